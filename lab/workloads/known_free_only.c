/* SPDX-License-Identifier: MIT */
/* Owns case 2: many producers hold a fixed live set; one thread that never allocates frees what
 * they replace. An uninitialised freeing thread, or owners that stop, must not make memory pile up.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/known_cases.h"
#include "workloads/process_watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { N_PRODUCERS = 16, QUEUE = 1024 };

enum end { REPLACE, STOP, LEAVE };

struct shape {
    size_t bytes;
    size_t n_objects; /* per producer */
    enum end end;     /* what the odd producers do when the time is half over */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *ring[QUEUE];
    size_t head, n;
    bool is_closed;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static const struct shape *shape;
static atomic_int phase; /* 0: all replace; 1: odd producers give everything away; 2: end */
static pthread_barrier_t filled;
static atomic_int n_gave_up, n_took_over;

/* What waits in the queue is not live: a quarter of a MiB at most, or 32 objects. */
static size_t queue_room(void)
{
    size_t n = (256 * 1024) / shape->bytes;

    return n < 32 ? 32 : n > QUEUE ? QUEUE : n;
}

static void hand_over(void *p)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.n == queue_room())
        pthread_cond_wait(&queue.changed, &queue.lock);
    queue.ring[(queue.head + queue.n++) % QUEUE] = p;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

static void *reclaim(void *unused)
{
    void *batch[256];

    for (;;) {
        size_t n = 0;

        pthread_mutex_lock(&queue.lock);
        while (queue.n == 0 && !queue.is_closed)
            pthread_cond_wait(&queue.changed, &queue.lock);
        while (queue.n > 0 && n < 256) {
            batch[n++] = queue.ring[queue.head];
            queue.head = (queue.head + 1) % QUEUE;
            queue.n--;
        }
        pthread_cond_broadcast(&queue.changed);
        pthread_mutex_unlock(&queue.lock);
        if (n == 0)
            return unused;
        for (size_t i = 0; i < n; i++)
            free(batch[i]);
    }
}

static void *fresh(void)
{
    void *p = malloc(shape->bytes);

    if (p != NULL)
        memset(p, 1, shape->bytes);
    return p;
}

static void wait_for_end(void)
{
    while (atomic_load(&phase) != 2)
        watch_sleep_s(0.005);
}

static void *produce(void *arg)
{
    size_t index = (uintptr_t)arg, n = shape->n_objects;
    bool takes_over = index % 2 == 0, gives_up = !takes_over && shape->end != REPLACE;
    void **live = known_table(2 * n, sizeof(*live));

    for (size_t i = 0; i < n; i++)
        live[i] = fresh();
    pthread_barrier_wait(&filled);
    for (size_t i = 0; atomic_load(&phase) == 0 || (!gives_up && atomic_load(&phase) == 1);
         i = (i + 7) % n) {
        hand_over(live[i]);
        live[i] = fresh();
        if (takes_over && n == shape->n_objects && atomic_load(&n_gave_up) == N_PRODUCERS / 2) {
            /* The live set becomes as large as it was: this producer grows by what its neighbour
             * gave up. */
            for (; n < 2 * shape->n_objects; n++)
                live[n] = fresh();
            atomic_fetch_add(&n_took_over, 1);
        }
    }
    if (gives_up) {
        for (size_t i = 0; i < n; i++)
            hand_over(live[i]);
        atomic_fetch_add(&n_gave_up, 1);
        if (shape->end == LEAVE)
            return NULL;
        wait_for_end();
    }
    return NULL;
}

/* Until the odd producers have given everything away and the even ones have grown by as much. */
static void wait_for_change(void)
{
    while (shape->end != REPLACE && (atomic_load(&n_gave_up) < N_PRODUCERS / 2 ||
                                     atomic_load(&n_took_over) < N_PRODUCERS / 2))
        watch_sleep_s(0.005);
}

static void close_queue(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.is_closed = true;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

static const char *run(const struct shape *s, const struct known_form *form, uint64_t *figures)
{
    const double seconds = known_seconds(form, 0.4, 30);
    const double live = (double)(s->bytes * s->n_objects * N_PRODUCERS);
    const size_t base = watch_rss_bytes();
    pthread_t producers[N_PRODUCERS];
    pthread_t reclaimer;

    shape = s;
    pthread_barrier_init(&filled, NULL, N_PRODUCERS + 1);
    if (pthread_create(&reclaimer, NULL, reclaim, NULL) != 0)
        return "pthread_create failed";
    for (uintptr_t i = 0; i < N_PRODUCERS; i++) {
        if (pthread_create(&producers[i], NULL, produce, (void *)i) != 0)
            return "pthread_create failed";
    }
    pthread_barrier_wait(&filled);
    watch_sleep_s(seconds / 4);
    atomic_store(&phase, s->end == REPLACE ? 0 : 1);
    wait_for_change();
    watch_sleep_s(seconds / 4);
    const double middle = (double)watch_rss_bytes();
    watch_sleep_s(seconds / 2);
    const double end = (double)watch_rss_bytes();
    figures[0] = known_per_mille(end - (double)base, live);
    figures[1] = known_per_mille(end, middle);
    /* The producers may wait for room in the queue: let them end before the reclaimer. */
    atomic_store(&phase, 2);
    for (int i = 0; i < N_PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    close_queue();
    pthread_join(reclaimer, NULL);
    return NULL;
}

/* Live sets that are large against what an allocator may keep for itself whatever is live. */
static const char *run_small(enum end end, const struct known_form *form, uint64_t *figures)
{
    const struct shape s = {592, known_count(form, 15000, 20000), end};
    return run(&s, form, figures);
}

const char *known_free_only(const struct known_form *form, uint64_t *figures)
{
    return run_small(REPLACE, form, figures);
}

const char *known_free_only_stop(const struct known_form *form, uint64_t *figures)
{
    return run_small(STOP, form, figures);
}

const char *known_free_only_exit(const struct known_form *form, uint64_t *figures)
{
    return run_small(LEAVE, form, figures);
}

const char *known_free_only_large(const struct known_form *form, uint64_t *figures)
{
    const struct shape s = {(size_t)80 * 1024, known_count(form, 75, 100), REPLACE};
    return run(&s, form, figures);
}
