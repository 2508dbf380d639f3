/* SPDX-License-Identifier: MIT */
/* Owns the order of events in a worker: sizes, repeats, threads pinned and started together.
 *
 * The main thread is lane 0. All lanes walk the same two loops; what main sets before the first
 * meeting of a repeat, the others see after it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/slab_worker.h"

#include "workloads/process_watch.h"
#include "workloads/ticks.h"

#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* About a millisecond, longer than lanes lag behind each other when each has its CPU. */
#define SPINS_WITH_OWN_CPU 50000u

static void futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void slab_barrier_wait(struct slab_barrier *b)
{
    const uint32_t generation = atomic_load(&b->generation);
    if (atomic_fetch_add(&b->n_arrived, 1) + 1 == b->n_lanes) {
        atomic_store(&b->n_arrived, 0);
        b->released_at = ticks_now();
        atomic_store(&b->generation, generation + 1);
        if (atomic_load(&b->n_sleeping) != 0)
            futex_wake_all(&b->generation);
        return;
    }
    for (uint32_t i = 0; i < b->n_spins; i++) {
        if (atomic_load_explicit(&b->generation, memory_order_acquire) != generation)
            return;
        ticks_relax();
    }
    atomic_fetch_add(&b->n_sleeping, 1);
    while (atomic_load(&b->generation) == generation)
        futex_wait(&b->generation, generation);
    atomic_fetch_sub(&b->n_sleeping, 1);
}

/* Lane i runs on the i-th CPU asked for; an unpinned test may use all of them. */
static void pin_lane(struct slab_worker *w, unsigned index)
{
    const struct slab_params *p = &w->params;
    unsigned long mask[SLAB_MAX_CPUS / (8 * sizeof(unsigned long))] = {0};
    const unsigned bits = 8 * sizeof(mask[0]);
    const unsigned first = p->test == SLAB_TEST_UNPINNED ? 0 : index % p->n_cpus;
    const unsigned last = p->test == SLAB_TEST_UNPINNED ? p->n_cpus - 1 : first;

    for (unsigned i = first; i <= last; i++)
        mask[p->cpus[i] / bits] |= 1ul << (p->cpus[i] % bits);
    if (sched_setaffinity(0, sizeof(mask), (const cpu_set_t *)mask) != 0)
        slab_worker_fail(w, "cannot pin a thread to its CPU");
}

static const struct slab_body *body_of(const struct slab_worker *w)
{
    const struct slab_body *body = slab_single_body(w->params.test);
    return body != NULL ? body : slab_shared_body(w->params.test);
}

static void keep_samples(struct slab_worker *w, size_t size_index, size_t repeat)
{
    for (uint32_t lane = 0; lane < w->head->n_lanes; lane++) {
        for (uint32_t column = 0; column < w->head->n_columns; column++)
            w->ticks[slab_wire_index(w->head, size_index, lane, column) + repeat] =
                w->lanes[lane].ticks[column];
    }
}

static void one_repeat(struct slab_worker *w, struct slab_lane *lane, const struct slab_body *body)
{
    slab_barrier_wait(&w->barrier);
    body->run(w, lane);
    slab_barrier_wait(&w->barrier);
}

static void *lane_main(void *arg)
{
    struct slab_lane *lane = arg;
    struct slab_worker *w = lane->worker;
    const struct slab_body *body = body_of(w);

    pin_lane(w, lane->index);
    for (size_t s = 0; s < w->params.n_sizes; s++) {
        for (size_t r = 0; r < w->params.n_warmup + w->params.n_repeats; r++)
            one_repeat(w, lane, body);
    }
    return NULL;
}

static void main_lane(struct slab_worker *w, const struct slab_body *body)
{
    const struct slab_params *p = &w->params;

    for (size_t s = 0; s < p->n_sizes; s++) {
        w->size = p->sizes[s];
        if (body->prepare != NULL)
            body->prepare(w);
        for (size_t r = 0; r < p->n_warmup; r++)
            one_repeat(w, &w->lanes[0], body);
        slab_probe_counters_start(w, s);
        for (size_t r = 0; r < p->n_repeats; r++) {
            one_repeat(w, &w->lanes[0], body);
            keep_samples(w, s, r);
        }
        slab_probe_counters_stop(w, s);
        w->sizes[s].size_bytes = w->size;
        w->sizes[s].n_allocs = w->sizes[s].n_frees = w->allocs_per_repeat * p->n_repeats;
        if (body->finish != NULL)
            body->finish(w);
    }
}

/* The same for every test, needed or not, so that the memory figures of tests compare. */
static void map_memory(struct slab_worker *w)
{
    const struct slab_params *p = &w->params;
    uint64_t seed = p->seed;

    w->lanes = slab_worker_map(p->n_threads * sizeof(w->lanes[0]));
    w->order = slab_worker_map(p->count * sizeof(w->order[0]));
    w->mixed_sizes = slab_worker_map(p->count * sizeof(w->mixed_sizes[0]));
    for (unsigned i = 0; i < p->n_threads; i++) {
        w->lanes[i].objs = slab_worker_map(p->count * sizeof(void *));
        w->lanes[i].worker = w;
        w->lanes[i].index = i;
    }
    for (size_t i = 0; i < p->count; i++)
        w->order[i] = (uint32_t)i;
    for (size_t i = p->count - 1; i > 0; i--) {
        const size_t j = slab_random_next(&seed) % (i + 1);
        const uint32_t moved = w->order[i];
        w->order[i] = w->order[j];
        w->order[j] = moved;
    }
    w->barrier.n_lanes = p->n_threads;
    w->barrier.n_spins = p->n_threads > p->n_cpus ? 0 : SPINS_WITH_OWN_CPU;
}

void slab_harness_run(struct slab_worker *w)
{
    const unsigned n_threads = w->params.n_threads;

    map_memory(w);
    pin_lane(w, 0);
    w->head->rss_start_bytes = watch_rss_bytes();
    for (unsigned i = 1; i < n_threads; i++) {
        if (pthread_create(&w->lanes[i].thread, NULL, lane_main, &w->lanes[i]) != 0)
            slab_worker_fail(w, "cannot create a thread");
    }
    main_lane(w, body_of(w));
    for (unsigned i = 1; i < n_threads; i++)
        pthread_join(w->lanes[i].thread, NULL);
    w->head->rss_end_bytes = watch_rss_bytes();
    w->head->rss_peak_bytes = watch_peak_rss_bytes();
}
