/* SPDX-License-Identifier: MIT */
/* Owns case 11: a process that goes idle makes no calls that could give memory back; it must be
 * back before. And what malloc_trim gives back.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/known_cases.h"
#include "workloads/process_watch.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 200, LARGE = 1 << 20, KEEP_ONE_OF = 5000 };

static void fill(void **blocks, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n; i++) {
        blocks[i] = malloc(bytes);
        if (blocks[i] != NULL)
            memset(blocks[i], 1, bytes);
    }
}

const char *known_idle(const struct known_form *form, uint64_t *figures)
{
    const size_t n = known_count(form, 192, 1024);
    void **blocks = known_table(n, sizeof(*blocks));

    fill(blocks, n, LARGE);
    for (size_t i = 1; i < n; i++)
        free(blocks[i]);
    watch_sleep_s(known_seconds(form, 0.2, 15));
    figures[0] = watch_rss_bytes();
    return NULL;
}

const char *known_trim(const struct known_form *form, uint64_t *figures)
{
    const size_t n = known_count(form, 250000, 2000000);
    void **blocks = known_table(n, sizeof(*blocks));

    fill(blocks, n, SMALL);
    for (size_t i = 0; i < n; i++) {
        if (i % KEEP_ONE_OF != 0)
            free(blocks[i]);
    }
    const size_t peak = watch_peak_rss_bytes();
    watch_sleep_s(known_seconds(form, 0.2, 15));
    figures[1] = malloc_trim(0) == 1;
    /* The table of pointers is the case's own and stays: no part of what can be given back. */
    figures[0] =
        known_per_mille((double)watch_rss_bytes() - (double)(n * sizeof(*blocks)), (double)peak);
    return NULL;
}
