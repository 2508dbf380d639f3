/* SPDX-License-Identifier: MIT */
/* A library whose constructor registers fork handlers, as libraries do that know nothing of the
 * allocator. They do what kf03_handler points to. With KF03_EARLY a part of the program, registered
 * before all constructors. */
#include <pthread.h>

#include "kf03_handlers.h"

void (*kf03_handler)(enum kf03_when when);

static void call(enum kf03_when when)
{
    if (kf03_handler != NULL)
        kf03_handler(when);
}

static void prepare(void)
{
    call(KF03_PREPARE);
}

static void parent(void)
{
    call(KF03_PARENT);
}

static void child(void)
{
    call(KF03_CHILD);
}

static void at_start(void)
{
    pthread_atfork(prepare, parent, child);
}

#ifdef KF03_EARLY
static void (*const before_all)(void) __attribute__((section(".preinit_array"), used)) = at_start;
#else
static void (*const as_libraries)(void) __attribute__((section(".init_array"), used)) = at_start;
#endif
