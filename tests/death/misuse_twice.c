/* SPDX-License-Identifier: MIT */
/* Blocks freed a second time: rows F1 to F6 and F12 of the scorecard. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "misuse.h"

enum { EXIT_ALIASED = 11, EXIT_REUSED = 12 };

static void wrong_free(void *p, size_t usable)
{
    misuse_expect("free", p, usable);
    free(p);
}

static void twice(size_t bytes)
{
    void *p = hide(malloc(bytes));
    size_t usable = malloc_usable_size(p);

    free(p);
    wrong_free(p, usable);
}

static void after_other_sizes(size_t bytes)
{
    void *p = hide(malloc(bytes));
    size_t usable = malloc_usable_size(p);

    free(p);
    for (size_t i = 0; i < 1024; i++) {
        size_t other = 16 + i * 40;

        /* Not of the same class, which would be another row. */
        if (other < bytes / 2 || other > bytes * 2)
            free(hide(malloc(other)));
    }
    wrong_free(p, usable);
}

static void after_pairs(size_t bytes)
{
    void *p = hide(malloc(bytes));
    size_t usable = malloc_usable_size(p);

    free(p);
    for (int i = 0; i < 1024; i++)
        free(hide(malloc(bytes)));
    wrong_free(p, usable);
}

/* Blocks of the same size stay live. When one of them is p again, the second free is right. */
static void after_live_ones(size_t bytes)
{
    void *p = hide(malloc(bytes));
    size_t usable = malloc_usable_size(p);

    free(p);
    for (int i = 0; i < 31; i++)
        if (hide(malloc(bytes)) == p)
            _exit(EXIT_REUSED);
    wrong_free(p, usable);
}

static void a_b_a(size_t bytes)
{
    void *a = hide(malloc(bytes)), *b = malloc(bytes);
    size_t usable = malloc_usable_size(a);

    free(a);
    free(b);
    wrong_free(a, usable);
}

/* The thread is there before the first free: making one allocates, and might get the very block. */
static pthread_barrier_t freed_here;

static void *free_there(void *p)
{
    pthread_barrier_wait(&freed_here);
    wrong_free(p, 0);
    return NULL;
}

static void other_thread(size_t bytes)
{
    void *p = hide(malloc(bytes));
    pthread_t t;

    pthread_barrier_init(&freed_here, NULL, 2);
    pthread_create(&t, NULL, free_there, p);
    free(p);
    pthread_barrier_wait(&freed_here);
    pthread_join(t, NULL);
}

/* ---- F6: two at once; either a report, or one free takes effect and no block has two owners
 * --------- */

enum { ROUNDS = 10000 };
static pthread_barrier_t barrier;
static void *volatile victim;

static void *free_at_once(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        free(victim);
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

static int by_value(const void *a, const void *b)
{
    void *const *x = a, *const *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void at_once(size_t bytes)
{
    static void *blocks[8192];
    pthread_t t;

    pthread_barrier_init(&barrier, NULL, 2);
    misuse_expect("any", NULL, 0);
    pthread_create(&t, NULL, free_at_once, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        victim = malloc(bytes);
        pthread_barrier_wait(&barrier);
        free(victim);
        pthread_barrier_wait(&barrier);
    }
    pthread_join(t, NULL);
    for (int i = 0; i < 8192; i++)
        blocks[i] = malloc(bytes);
    qsort(blocks, 8192, sizeof blocks[0], by_value);
    for (int i = 1; i < 8192; i++)
        if (blocks[i] == blocks[i - 1])
            _exit(EXIT_ALIASED);
}

/* ---- F12: aligned blocks
 * ---------------------------------------------------------------------------- */

static void aligned_twice(size_t bytes)
{
    void *p = NULL;
    size_t usable;

    if (posix_memalign(&p, 256, bytes) != 0)
        _exit(3);
    p = hide(p);
    usable = malloc_usable_size(p);
    free(p);
    wrong_free(p, usable);
}

static void aligned_alloc_twice(size_t bytes)
{
    void *p = hide(aligned_alloc(4096, bytes));
    size_t usable = malloc_usable_size(p);

    free(p);
    wrong_free(p, usable);
}

const struct misuse misuse_twice[] = {
    {"twice", twice},
    {"after-other-sizes", after_other_sizes},
    {"after-pairs", after_pairs},
    {"after-live-ones", after_live_ones},
    {"a-b-a", a_b_a},
    {"other-thread", other_thread},
    {"at-once", at_once},
    {"aligned-twice", aligned_twice},
    {"aligned-alloc-twice", aligned_alloc_twice},
    {NULL, NULL},
};
