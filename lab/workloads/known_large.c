/* SPDX-License-Identifier: MIT */
/* Owns cases 12, 13 and 15: calloc that must not write fresh pages, realloc that must move pages
 * and not bytes, and large blocks that may not cost a mapping each.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/known_cases.h"
#include "workloads/process_watch.h"

#include <stdlib.h>
#include <string.h>

#define MIB  ((size_t)1 << 20)
#define NONE "the allocator answered NULL"

const char *known_calloc(const struct known_form *form, uint64_t *figures)
{
    const double begin = watch_now_s();

    (void)form;
    for (int i = 0; i < 50; i++) {
        volatile char *p = calloc(1, 1000000000);
        if (p == NULL)
            return NONE;
        p[500000000] = 1;
        free((void *)p);
    }
    figures[0] = known_ns(watch_now_s() - begin);
    figures[1] = watch_peak_rss_bytes();
    return NULL;
}

const char *known_realloc_sparse(const struct known_form *form, uint64_t *figures)
{
    const double begin = watch_now_s();
    char *p = NULL;

    (void)form;
    for (unsigned k = 0; k <= 30; k++) {
        p = realloc(p, (size_t)1 << k);
        if (p == NULL)
            return NONE;
        ((volatile char *)p)[((size_t)1 << k) - 1] = 1;
    }
    figures[0] = known_ns(watch_now_s() - begin);
    figures[1] = watch_peak_rss_bytes();
    free(p);
    return NULL;
}

const char *known_realloc_steps(const struct known_form *form, uint64_t *figures)
{
    const double begin = watch_now_s();
    char *p = NULL;

    (void)form;
    for (size_t n = MIB; n <= 200 * MIB; n += 65536) {
        p = realloc(p, n);
        if (p == NULL)
            return NONE;
        ((volatile char *)p)[n - 1] = 1;
    }
    figures[0] = known_ns(watch_now_s() - begin);
    free(p);
    return NULL;
}

const char *known_realloc_dense(const struct known_form *form, uint64_t *figures)
{
    const size_t last = known_count(form, 96, 1024) * MIB;
    const size_t base = watch_rss_bytes();
    size_t n = MIB;
    volatile char *p = malloc(n);

    if (p == NULL)
        return NONE;
    memset((void *)p, 1, n);
    while (n < last) {
        p = realloc((void *)p, n + 4 * MIB);
        if (p == NULL)
            return NONE;
        memset((char *)p + n, 1, 4 * MIB);
        n += 4 * MIB;
    }
    figures[0] = known_per_mille((double)watch_peak_rss_bytes() - (double)base, (double)n);
    /* Shrinking a full block gives its pages back. */
    p = realloc((void *)p, 1024);
    if (p == NULL)
        return NONE;
    figures[1] = watch_rss_bytes();
    figures[2] = 0;
    for (size_t i = 0; i < 1024; i++)
        figures[2] += p[i] != 1;
    free((void *)p);
    return NULL;
}

const char *known_realloc_bytes(const struct known_form *form, uint64_t *figures)
{
    const double begin = watch_now_s();
    unsigned char *p = NULL;

    (void)form;
    figures[1] = figures[2] = 0;
    for (size_t n = 1; n <= MIB; n++) {
        const uintptr_t before = (uintptr_t)p;
        p = realloc(p, n);
        if (p == NULL)
            return NONE;
        figures[1] += (uintptr_t)p != before;
        p[n - 1] = (unsigned char)(n * 7);
    }
    figures[0] = known_ns(watch_now_s() - begin);
    for (size_t i = 0; i < MIB; i++)
        figures[2] += p[i] != (unsigned char)((i + 1) * 7);
    free(p);
    return NULL;
}

const char *known_maps(const struct known_form *form, uint64_t *figures)
{
    const size_t n = known_count(form, 20000, 140000);
    void **blocks = known_table(n, sizeof(*blocks));

    for (size_t i = 0; i < n; i++) {
        blocks[i] = malloc(200000);
        if (blocks[i] == NULL)
            return NONE;
    }
    const size_t whole = watch_n_maps();
    for (size_t i = 0; i < n; i += 2)
        free(blocks[i]);
    const size_t half = watch_n_maps();
    figures[0] = half > whole ? half : whole;
    void *huge = malloc(300 * MIB);
    const bool has_huge = huge != NULL;
    free(huge);
    for (size_t i = 1; i < n; i += 2)
        free(blocks[i]);
    return has_huge ? NULL : "no 300 MiB behind them";
}

/* Growing moves pages, and every range of moved pages can become a mapping of its own. */
const char *known_maps_moved(const struct known_form *form, uint64_t *figures)
{
    const size_t n = known_count(form, 3000, 20000);
    volatile char **blocks = known_table(n, sizeof(*blocks));

    figures[0] = 0;
    for (size_t bytes = 50000; bytes <= 200000; bytes *= 2) {
        for (size_t i = 0; i < n; i++) {
            blocks[i] = realloc((void *)blocks[i], bytes);
            if (blocks[i] == NULL)
                return NONE;
            blocks[i][0] = blocks[i][bytes - 1] = 1;
        }
        const size_t maps = watch_n_maps();
        figures[0] = maps > figures[0] ? maps : figures[0];
    }
    for (size_t i = 0; i < n; i++)
        free((void *)blocks[i]);
    return NULL;
}
