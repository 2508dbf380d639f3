/* SPDX-License-Identifier: MIT */
/* Owns the loops of slab_test that several threads run at once: concurrent, remote, oversubscribed,
 * unpinned, thread churn.
 *
 * All lanes enter run() together, out of the harness's barrier; phases inside a test meet at the
 * same barrier. A lane times its own phases only, waiting excluded.
 */
#include "workloads/slab_worker.h"

#include "workloads/slab_api.h"
#include "workloads/ticks.h"

#include <sched.h>
#include <string.h>

#define OVERSUBSCRIBED_ROUNDS 10 /* so that a thread's work in one repeat spans scheduler ticks */
#define CHURN_THREADS         8  /* a repeat */
#define POLLS_BEFORE_YIELD    4096

static uint64_t time_alloc(struct slab_worker *w, void **objs, size_t n)
{
    const size_t size = w->size;
    const uint64_t start = ticks_now();
    for (size_t i = 0; i < n; i++) {
        void *p = slab_obj_alloc(w, size);
        slab_obj_touch(p);
        objs[i] = p;
    }
    return ticks_now() - start;
}

static uint64_t time_free(void **objs, size_t n)
{
    const uint64_t start = ticks_now();
    for (size_t i = 0; i < n; i++) {
        void *p = objs[i];
        slab_obj_touch(p);
        slab_obj_free(p);
    }
    return ticks_now() - start;
}

static void set_ops(struct slab_worker *w, uint64_t one_sample, uint64_t one_repeat)
{
    w->allocs_per_repeat = one_repeat;
    for (unsigned c = 0; c < SLAB_MAX_COLUMNS; c++)
        w->head->ops[c] = one_sample;
}

static void prepare_each(struct slab_worker *w)
{
    set_ops(w, w->params.count, (uint64_t)w->params.count * w->params.n_threads);
}

/* Every lane is divided by count, as the kernel module does, busy in the phase or not. */
static void prepare_all_but_first(struct slab_worker *w)
{
    set_ops(w, w->params.count, (uint64_t)w->params.count * (w->params.n_threads - 1));
}

static void prepare_one(struct slab_worker *w)
{
    set_ops(w, w->params.count, w->params.count);
}

static void run_concurrent(struct slab_worker *w, struct slab_lane *lane)
{
    lane->ticks[0] = time_alloc(w, lane->objs, w->params.count);
    slab_barrier_wait(&w->barrier);
    lane->ticks[1] = time_free(lane->objs, w->params.count);
}

static void run_concurrent_pair(struct slab_worker *w, struct slab_lane *lane)
{
    const size_t n = w->params.count;
    const size_t size = w->size;
    const uint64_t start = ticks_now();
    for (size_t i = 0; i < n; i++) {
        void *p = slab_obj_alloc(w, size);
        slab_obj_touch(p);
        slab_obj_free(p);
    }
    lane->ticks[0] = ticks_now() - start;
}

static uint64_t free_round_robin(struct slab_worker *w)
{
    const unsigned n_threads = w->params.n_threads;
    const uint64_t start = ticks_now();
    for (size_t i = 0; i < w->params.count; i++) {
        for (unsigned t = 1; t < n_threads; t++) {
            void *p = w->lanes[t].objs[i];
            slab_obj_touch(p);
            slab_obj_free(p);
        }
    }
    return ticks_now() - start;
}

static void run_remote_free(struct slab_worker *w, struct slab_lane *lane)
{
    lane->ticks[0] = time_alloc(w, lane->objs, lane->index == 0 ? 0 : w->params.count);
    slab_barrier_wait(&w->barrier);
    lane->ticks[1] = 0;
    if (lane->index != 0)
        return;
    if (w->params.robust) {
        lane->ticks[1] = free_round_robin(w);
    } else {
        for (unsigned t = 1; t < w->params.n_threads; t++)
            lane->ticks[1] += time_free(w->lanes[t].objs, w->params.count);
    }
}

/* Lane a's objects are freed by lane (a + 1) mod M: by another lane whenever M is at least 2. */
static void run_remote_m(struct slab_worker *w, struct slab_lane *lane)
{
    lane->ticks[0] = time_alloc(w, lane->objs, w->params.count);
    slab_barrier_wait(&w->barrier);
    lane->ticks[1] = 0;
    for (unsigned a = 0; a < w->params.n_threads; a++) {
        if ((a + 1) % w->params.n_freers == lane->index)
            lane->ticks[1] += time_free(w->lanes[a].objs, w->params.count);
    }
}

static void prepare_remote_touch(struct slab_worker *w)
{
    prepare_one(w);
    (void)time_alloc(w, w->lanes[0].objs, w->params.count);
}

static void run_remote_touch(struct slab_worker *w, struct slab_lane *lane)
{
    if (lane->index == 1)
        w->lanes[0].ticks[1] = time_free(w->lanes[0].objs, w->params.count);
    slab_barrier_wait(&w->barrier);
    if (lane->index == 0)
        lane->ticks[0] = time_alloc(w, lane->objs, w->params.count);
}

static void finish_remote_touch(struct slab_worker *w)
{
    (void)time_free(w->lanes[0].objs, w->params.count);
}

/* The first lane deals objects out, one slot array for each consumer. */
static uint64_t produce(struct slab_worker *w)
{
    const size_t size = w->size;
    const size_t n = w->params.count;
    const unsigned n_threads = w->params.n_threads;
    size_t slot = 0;
    unsigned consumer = 1;

    const uint64_t start = ticks_now();
    for (size_t i = 0; i < n; i++) {
        void *p = slab_obj_alloc(w, size);
        slab_obj_touch(p);
        __atomic_store_n(&w->lanes[consumer].objs[slot], p, __ATOMIC_RELEASE); /* with consume() */
        if (++consumer == n_threads) {
            consumer = 1;
            slot++;
        }
    }
    return ticks_now() - start;
}

static void *poll_slot(void **slot)
{
    for (;;) {
        for (unsigned i = 0; i < POLLS_BEFORE_YIELD; i++) {
            void *p = __atomic_load_n(slot, __ATOMIC_ACQUIRE); /* with produce() */
            if (p != NULL)
                return p;
            ticks_relax();
        }
        sched_yield(); /* the producer may need this CPU */
    }
}

static uint64_t consume(void **slots, size_t n)
{
    const uint64_t start = ticks_now();
    for (size_t i = 0; i < n; i++) {
        void *p = poll_slot(&slots[i]);
        slab_obj_touch(p);
        slab_obj_free(p);
    }
    return ticks_now() - start;
}

static void run_one_alloc(struct slab_worker *w, struct slab_lane *lane)
{
    const size_t n_consumers = w->params.n_threads - 1;
    memset(lane->objs, 0, w->params.count * sizeof(lane->objs[0]));
    slab_barrier_wait(&w->barrier);
    if (lane->index == 0) {
        lane->ticks[0] = produce(w);
    } else {
        /* All objects are freed: the first consumers take what the division leaves over. */
        const size_t n = w->params.count;
        const size_t share = n / n_consumers + (lane->index - 1 < n % n_consumers ? 1 : 0);
        lane->ticks[0] = consume(lane->objs, share);
    }
}

static size_t oversubscribed_objs(const struct slab_worker *w)
{
    const size_t n = w->params.count / OVERSUBSCRIBED_ROUNDS;
    return n == 0 ? 1 : n;
}

static void prepare_oversubscribed(struct slab_worker *w)
{
    const uint64_t one_thread = (uint64_t)oversubscribed_objs(w) * OVERSUBSCRIBED_ROUNDS;
    /* The sample is wall-clock time; each CPU did its part of all pairs in it. */
    set_ops(w, one_thread * w->params.n_threads / w->params.n_cpus,
            one_thread * w->params.n_threads);
}

static void run_oversubscribed(struct slab_worker *w, struct slab_lane *lane)
{
    const uint64_t start = w->barrier.released_at;
    for (unsigned r = 0; r < OVERSUBSCRIBED_ROUNDS; r++) {
        (void)time_alloc(w, lane->objs, oversubscribed_objs(w));
        (void)time_free(lane->objs, oversubscribed_objs(w));
    }
    slab_barrier_wait(&w->barrier);
    lane->ticks[0] = w->barrier.released_at - start;
}

static size_t churn_objs(const struct slab_worker *w)
{
    const size_t n = w->params.count / CHURN_THREADS;
    return n == 0 ? 1 : n;
}

static void prepare_churn(struct slab_worker *w)
{
    set_ops(w, (uint64_t)churn_objs(w) * CHURN_THREADS, (uint64_t)churn_objs(w) * CHURN_THREADS);
}

static void *churn_thread(void *arg)
{
    struct slab_worker *w = arg;
    void **objs = w->lanes[0].objs;
    const size_t n = churn_objs(w);
    (void)time_alloc(w, objs, n);
    (void)time_free(objs, n / 2);
    return NULL;
}

static void run_churn(struct slab_worker *w, struct slab_lane *lane)
{
    const size_t n = churn_objs(w);
    const uint64_t start = ticks_now();
    for (unsigned t = 0; t < CHURN_THREADS; t++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, churn_thread, w) != 0)
            slab_worker_fail(w, "cannot create a thread");
        pthread_join(thread, NULL);
        (void)time_free(lane->objs + n / 2, n - n / 2);
    }
    lane->ticks[0] = ticks_now() - start;
}

const struct slab_body *slab_shared_body(enum slab_test_id test)
{
    static const struct slab_body concurrent = {prepare_each, run_concurrent, NULL};
    static const struct slab_body concurrent_pair = {prepare_each, run_concurrent_pair, NULL};
    static const struct slab_body remote_free = {prepare_all_but_first, run_remote_free, NULL};
    static const struct slab_body remote_m = {prepare_each, run_remote_m, NULL};
    static const struct slab_body remote_touch = {prepare_remote_touch, run_remote_touch,
                                                  finish_remote_touch};
    static const struct slab_body one_alloc = {prepare_one, run_one_alloc, NULL};
    static const struct slab_body oversubscribed = {prepare_oversubscribed, run_oversubscribed,
                                                    NULL};
    static const struct slab_body churn = {prepare_churn, run_churn, NULL};

    switch (test) {
    case SLAB_TEST_CONCURRENT:
    case SLAB_TEST_UNPINNED:
        return &concurrent;
    case SLAB_TEST_CONCURRENT_PAIR:
        return &concurrent_pair;
    case SLAB_TEST_REMOTE_FREE:
        return &remote_free;
    case SLAB_TEST_REMOTE_M:
        return &remote_m;
    case SLAB_TEST_REMOTE_TOUCH:
        return &remote_touch;
    case SLAB_TEST_ONE_ALLOC:
        return &one_alloc;
    case SLAB_TEST_OVERSUBSCRIBED:
        return &oversubscribed;
    case SLAB_TEST_CHURN:
        return &churn;
    default:
        return NULL;
    }
}
