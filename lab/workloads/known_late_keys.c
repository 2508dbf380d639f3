/* SPDX-License-Identifier: MIT */
/* Owns case 1: key destructors that allocate and free after the allocator's own destructor ran.
 *
 * A cache rebuilt for a thread that is already going is never reaped: memory grows with the dead.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/known_cases.h"
#include "workloads/process_watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 1000, ROUNDS = 4, N_BLOCKS = 130 };
enum variant { EVERY_ROUND, LAST_ROUND, ONLY_FREES };

static pthread_key_t key;
static enum variant variant;

static void use_heap(void)
{
    free(malloc(100));
    void *p = malloc(3000);
    if (p != NULL)
        memset(p, 1, 3000);
    free(p);
}

/* The value counts the rounds; setting it again asks for one more. */
static void late(void *value)
{
    const uintptr_t round = (uintptr_t)value;

    if (variant == EVERY_ROUND || round == ROUNDS)
        use_heap();
    if (round < ROUNDS)
        pthread_setspecific(key, (void *)(round + 1));
}

static void frees(void *value)
{
    void **blocks = value;

    for (int i = 0; i < N_BLOCKS; i++)
        free(blocks[i]);
}

static void *thread_main(void *arg)
{
    if (variant == EVERY_ROUND)
        use_heap();
    pthread_setspecific(key, arg);
    return NULL;
}

static bool run_threads(size_t n)
{
    static void *blocks[N_BLOCKS];

    for (size_t i = 0; i < n; i++) {
        void *value = (void *)(uintptr_t)1;
        pthread_t t;

        if (variant == ONLY_FREES) {
            for (int k = 0; k < N_BLOCKS; k++)
                blocks[k] = malloc(16 + 8 * (size_t)k);
            value = blocks;
        }
        if (pthread_create(&t, NULL, thread_main, value) != 0)
            return false;
        pthread_join(t, NULL);
    }
    return true;
}

static const char *churn(enum variant v, const struct known_form *form, uint64_t *figures)
{
    const size_t n = known_count(form, 3000, 100000);

    variant = v;
    pthread_key_create(&key, v == ONLY_FREES ? frees : late);
    if (!run_threads(WARM_UP))
        return "pthread_create failed";
    const size_t rss = watch_rss_bytes();
    const size_t maps = watch_n_maps();
    if (!run_threads(n - WARM_UP))
        return "pthread_create failed";
    figures[0] = known_growth(rss, watch_rss_bytes());
    figures[1] = known_growth(maps, watch_n_maps());
    return NULL;
}

const char *known_late_keys(const struct known_form *form, uint64_t *figures)
{
    return churn(EVERY_ROUND, form, figures);
}

const char *known_late_keys_last(const struct known_form *form, uint64_t *figures)
{
    return churn(LAST_ROUND, form, figures);
}

const char *known_late_keys_free(const struct known_form *form, uint64_t *figures)
{
    return churn(ONLY_FREES, form, figures);
}
