/* SPDX-License-Identifier: MIT */
/* What unit tests share: cmocka with the headers it wants, a seed that can be repeated, an initialised
 * allocator. */
#ifndef SLUB_TESTS_UNIT_H
#define SLUB_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
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

#endif
