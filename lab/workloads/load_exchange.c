/* SPDX-License-Identifier: MIT */
/* Owns the workloads in which one thread frees what another allocated: xmalloc (always) and larson (after a change of
 * threads).
 */
#include "workloads/load.h"
#include "workloads/rng.h"
#include "workloads/ticks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_THREADS 1024
#define BATCH        120 /* blocks handed over at once */
#define MOST_BATCHES 64  /* waiting; then who has made one frees it itself */

static uint64_t n_threads, sample_ms = 300, n_slots = 1000, rounds = 10000;
static _Atomic uint64_t all_ops;
static uint64_t until_ns;

/* ---- xmalloc ------------------------------------------------------------------------------------- */

struct batch {
    void *blocks[BATCH];
};

static pthread_mutex_t shelf_lock = PTHREAD_MUTEX_INITIALIZER;
static struct batch *shelf[MOST_BATCHES];
static size_t n_shelf;

static bool shelve(struct batch *b)
{
    pthread_mutex_lock(&shelf_lock);
    const bool has_room = n_shelf < MOST_BATCHES;
    if (has_room)
        shelf[n_shelf++] = b;
    pthread_mutex_unlock(&shelf_lock);
    return has_room;
}

static struct batch *unshelve(void)
{
    pthread_mutex_lock(&shelf_lock);
    struct batch *b = n_shelf > 0 ? shelf[--n_shelf] : NULL;
    pthread_mutex_unlock(&shelf_lock);
    return b;
}

static uint64_t free_batch(struct batch *b)
{
    for (size_t i = 0; b != NULL && i < BATCH; i++)
        free(b->blocks[i]);
    free(b);
    return b != NULL ? BATCH : 0;
}

/* Even threads make batches, odd ones free them; one thread alone does both. */
static void exchange(unsigned i)
{
    struct rng rng = {i};
    const bool makes = i % 2 == 0;
    const bool frees = i % 2 == 1 || n_threads == 1;
    uint64_t ops = 0;

    do {
        struct batch *b = makes ? load_alloc(sizeof(*b)) : NULL;
        for (size_t k = 0; makes && k < BATCH; k++)
            b->blocks[k] = load_alloc(rng_size(&rng, 8, 256));
        if (makes && !shelve(b))
            ops += free_batch(b);
        if (frees)
            ops += free_batch(unshelve());
    } while (ticks_now_ns() < until_ns);
    all_ops += ops;
}

int load_xmalloc(int argc, char **argv)
{
    const struct load_option options[] = {
        {"threads", 't', "threads, half of them makers", &n_threads, 1, MOST_THREADS, false},
        {"ms", 'm', "milliseconds", &sample_ms, 1, 3600000, false},
    };

    n_threads = load_n_cpus() > 1 ? load_n_cpus() : 2;
    load_options(argc, argv, options, sizeof(options) / sizeof(options[0]));
    const uint64_t started_ns = ticks_now_ns();
    until_ns = started_ns + sample_ms * 1000000u;
    load_run_tasks((unsigned)n_threads, false, exchange);
    while (n_shelf > 0)
        all_ops += free_batch(unshelve());
    printf("rate %.1f\n", (double)all_ops / ((double)(ticks_now_ns() - started_ns) / 1e9));
    return 0;
}

/* ---- larson ---------------------------------------------------------------------------------------- */

/* What one thread after the other works on. */
struct shop {
    void **slots;
    struct rng rng;
};

static void *serve(void *of)
{
    struct shop *s = of;

    for (uint64_t i = 0; i < rounds; i++) {
        const size_t k = rng_below(&s->rng, n_slots);
        free(s->slots[k]);
        s->slots[k] = load_alloc(8 + rng_below(&s->rng, 993));
    }
    all_ops += rounds;
    return NULL;
}

/* Keeps one server running: each hands all of its blocks to the next. */
static void keep_serving(unsigned i)
{
    struct shop s = {.slots = load_alloc(n_slots * sizeof(void *)), .rng = {i}};
    pthread_t server;

    for (uint64_t k = 0; k < n_slots; k++)
        s.slots[k] = load_alloc(8 + rng_below(&s.rng, 993));
    do {
        if (pthread_create(&server, NULL, serve, &s) != 0)
            load_die("thread");
        pthread_join(server, NULL);
    } while (ticks_now_ns() < until_ns);
    for (uint64_t k = 0; k < n_slots; k++)
        free(s.slots[k]);
    free(s.slots);
}

int load_larson(int argc, char **argv)
{
    const struct load_option options[] = {
        {"threads", 't', "servers at a time", &n_threads, 1, MOST_THREADS, false},
        {"slots", 'n', "blocks of a server", &n_slots, 1, 10000000, false},
        {"rounds", 'r', "blocks that a server replaces before the next takes over", &rounds, 1, 1000000000, false},
        {"ms", 'm', "milliseconds", &sample_ms, 1, 3600000, false},
    };

    n_threads = load_n_cpus();
    load_options(argc, argv, options, sizeof(options) / sizeof(options[0]));
    const uint64_t started_ns = ticks_now_ns();
    until_ns = started_ns + sample_ms * 1000000u;
    load_run_tasks((unsigned)n_threads, false, keep_serving);
    printf("rate %.1f\n", (double)all_ops / ((double)(ticks_now_ns() - started_ns) / 1e9));
    return 0;
}
