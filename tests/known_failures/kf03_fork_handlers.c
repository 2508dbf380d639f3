/* SPDX-License-Identifier: MIT */
/* Case 3, other libraries' fork handlers: they may allocate and free, in whichever order they run
 * beside the allocator's, and may wait for a thread that allocates. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kf03_handlers.h"
#include "rng.h"
#include "stamp.h"
#include "testkit.h"

static atomic_bool must_stop;

static void child(void)
{
    alarm(10);
    for (size_t i = 0; i < 200; i++)
        free(malloc(1 + i * 37));
    free(malloc(300000));
    _exit(0);
}

enum { N_BLOCKS = 200, N_OLD = 3000 };

static unsigned char *old[N_OLD];
static bool is_bad;

static size_t old_bytes(size_t i)
{
    return i % 50 == 0 ? 70000 : 1 + i * 37 % 3000;
}

static bool is_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0)
            return false;
    return true;
}

/* Every kind of call: the blocks of before are freed in all three handlers (a part in each), new
 * ones are made, grown and freed, and some of them freed by the program later. */
static void *kept[3];

static void busy_handler(enum kf03_when when)
{
    static unsigned char *p[N_BLOCKS];
    size_t part = when == KF03_PREPARE ? 0 : 1;

    for (size_t i = part; i < N_OLD; i += 2) {
        is_bad |= stamp_first_bad(old[i], old_bytes(i), i) != old_bytes(i);
        free(old[i]);
        old[i] = NULL;
    }
    for (size_t i = 0; i < N_BLOCKS; i++) {
        p[i] = i % 2 == 0 ? malloc(old_bytes(i)) : calloc(1, old_bytes(i));
        is_bad |= p[i] == NULL || (i % 2 != 0 && !is_zero(p[i], old_bytes(i)));
        stamp_fill(p[i], old_bytes(i), i);
    }
    for (size_t i = 0; i < N_BLOCKS; i++) {
        unsigned char *q = realloc(p[i], old_bytes(i) * 3);

        is_bad |= q == NULL || stamp_first_bad(q, old_bytes(i), i) != old_bytes(i);
        p[i] = q;
    }
    for (size_t i = 0; i < N_BLOCKS; i++)
        free(p[i]);
    kept[when] = malloc(when == KF03_PARENT ? 100 : 100000);
    is_bad |= posix_memalign((void **)&p[0], 1 << 16, 100) != 0 || (uintptr_t)p[0] % (1 << 16) != 0;
    free(p[0]);
}

static void *allocate(void *unused)
{
    while (!atomic_load(&must_stop))
        free(malloc(3000));
    return unused;
}

static void busy_handlers(void *n)
{
    pthread_t t[2];

    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, allocate, (void *)(i + 1));
    kf03_handler = busy_handler;
    for (size_t k = 0; k < *(size_t *)n / 2; k++) {
        pid_t pid;
        int status = 0;

        for (size_t i = 0; i < N_OLD; i++) {
            old[i] = malloc(old_bytes(i));
            stamp_fill(old[i], old_bytes(i), i);
        }
        pid = fork();
        if (pid == 0) {
            alarm(10);
            for (size_t i = 0; i < N_OLD; i++)
                old[i] = realloc(malloc(100), old_bytes(i));
            free(kept[KF03_PREPARE]);
            free(kept[KF03_CHILD]);
            kf03_handler = NULL;
            if (is_bad)
                _exit(4);
            child();
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            tk_check(false, "child with handlers: %s",
                     pid < 0 ? "no fork" : tk_status_text(status));
        free(kept[KF03_PREPARE]);
        free(kept[KF03_PARENT]);
        tk_check(!is_bad, "a handler in the parent was served badly");
    }
    kf03_handler = NULL;
    atomic_store(&must_stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}

#ifndef KF03_EARLY
/* A library's handler takes the library's lock, while a thread allocates that holds it. So the
 * allocator's own handler must come after all others. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

static void locking_handler(enum kf03_when when)
{
    if (when == KF03_PREPARE)
        pthread_mutex_lock(&library_lock);
    else
        pthread_mutex_unlock(&library_lock);
}

static void *allocate_under_lock(void *arg)
{
    struct rng r = {.s = (uintptr_t)arg};

    while (!atomic_load(&must_stop)) {
        pthread_mutex_lock(&library_lock);
        for (int i = 0; i < 100; i++)
            free(malloc(rng_size(&r, 1, 100000)));
        pthread_mutex_unlock(&library_lock);
    }
    return NULL;
}

static void locking_handlers(void *n)
{
    pthread_t t;

    kf03_handler = locking_handler;
    pthread_create(&t, NULL, allocate_under_lock, &must_stop);
    for (size_t k = 0; k < *(size_t *)n; k++) {
        pid_t pid = fork();
        int status = 0;

        if (pid == 0)
            child();
        bool ended = pid > 0 && waitpid(pid, &status, 0) == pid;
        tk_check(ended && status == 0, "child under lock: %s", tk_status_text(status));
    }
    atomic_store(&must_stop, true);
    pthread_join(t, NULL);
}
#endif

int main(int argc, char **argv)
{
    size_t n;

    tk_init("kf03", "handlers of fork", argc, argv);
    n = tk_count(24, 1500);
    tk_child("handlers allocate", busy_handlers, &n, tk_full() ? 800 : 120);
#ifndef KF03_EARLY /* who registers before the allocator cannot lock what threads hold that \
                      allocate */
    tk_child("handlers lock", locking_handlers, &n, tk_full() ? 800 : 120);
#endif
    return tk_finish();
}
