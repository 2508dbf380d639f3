/* SPDX-License-Identifier: MIT */
/* What the misuse programs share: the table of cases, and the word to the driver before the wrong
 * call. */
#ifndef SLUB_TESTS_DEATH_MISUSE_H
#define SLUB_TESTS_DEATH_MISUSE_H

#include <stddef.h>

#include "testkit.h"

/* The case has no meaning for a block of this size; the system has no guard regions. cases.py knows the numbers. */
enum { EXIT_DOES_NOT_APPLY = 13, EXIT_NO_GUARDS = 16 };

struct misuse {
    const char *name;
    void (*run)(size_t bytes);
};

/* One table per file, with a nameless entry at its end. */
extern const struct misuse misuse_twice[], misuse_inside[], misuse_strangers[], misuse_resize[],
    misuse_hints[], misuse_past[], misuse_other[];

/* Tell the driver what comes next and from which thread: "expect <call> <address> <tid> <usable
 * bytes>". `call` may name several, separated by |; `usable` is 0 where it is not known. */
void misuse_expect(const char *call, const void *p, size_t usable);

/* Pointers that went through here are unknown to the compiler, which would refuse or drop wrong
 * calls. */
static inline void *hide(const void *p)
{
    return (void *)tk_opaque((size_t)p);
}

#endif
