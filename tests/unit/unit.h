/* SPDX-License-Identifier: MIT */
/* What unit tests share: cmocka with the headers it wants, a seed that can be repeated, an initialised
 * allocator. */
#ifndef SLUB_TESTS_UNIT_H
#define SLUB_TESTS_UNIT_H

#include <sys/mman.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "rng.h"

/* SLUB_TEST_SEED, or one from the clock; printed, so that a failure can be repeated. */
static inline struct rng unit_rng(void)
{
    const char *given = getenv("SLUB_TEST_SEED");
    struct rng r = {given != NULL ? strtoull(given, NULL, 0) : (uint64_t)time(NULL)};
    print_message("SLUB_TEST_SEED=%llu\n", (unsigned long long)r.s);
    return r;
}

/* Pages of the range that have memory now. */
static inline bool unit_resident(const void *p, size_t bytes, size_t *pages)
{
    unsigned char vec[512];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *pages = 0;
    for (size_t at = 0; at < bytes; at += sizeof vec * page) {
        size_t left = (bytes - at) / page, n = left < sizeof vec ? left : sizeof vec;
        if (mincore((char *)(uintptr_t)p + at, n * page, vec) != 0)
            return false;
        for (size_t i = 0; i < n; i++)
            *pages += vec[i] & 1;
    }
    return true;
}

#endif
