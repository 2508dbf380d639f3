/* SPDX-License-Identifier: MIT */
/* Case 2: many producers hold a fixed live set; one thread that never allocates frees what they
 * replace. An uninitialised freeing thread, or owners that stop, must not make memory pile up. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "testkit.h"

enum { N_PRODUCERS = 16, QUEUE = 1024 };

enum end { REPLACE, STOP, LEAVE };

struct shape {
    const char *name;
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
        tk_sleep(0.005);
}

static void *produce(void *arg)
{
    size_t index = (uintptr_t)arg, n = shape->n_objects;
    bool takes_over = index % 2 == 0, gives_up = !takes_over && shape->end != REPLACE;
    void **live = mmap(NULL, 2 * n * sizeof *live, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

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
        tk_sleep(0.005);
}

static void run(void *arg)
{
    double seconds = tk_seconds(0.4, 30), live, ratio, mid;
    pthread_t producers[N_PRODUCERS], reclaimer;
    size_t base;

    shape = arg;
    live = (double)(shape->bytes * shape->n_objects * N_PRODUCERS);
    pthread_barrier_init(&filled, NULL, N_PRODUCERS + 1);
    base = tk_rss();
    pthread_create(&reclaimer, NULL, reclaim, NULL);
    for (uintptr_t i = 0; i < N_PRODUCERS; i++)
        pthread_create(&producers[i], NULL, produce, (void *)i);
    pthread_barrier_wait(&filled);
    tk_sleep(seconds / 4);
    atomic_store(&phase, shape->end == REPLACE ? 0 : 1);
    wait_for_change();
    tk_sleep(seconds / 4);
    mid = (double)tk_rss();
    tk_sleep(seconds / 2);
    ratio = ((double)tk_rss() - (double)base) / live;

    tk_note("%s %.2fx live", shape->name, ratio);
    tk_check(ratio <= (tk_full() ? 1.5 : 1.6), "%s: RSS is %.2f of what is live", shape->name,
             ratio);
    tk_check((double)tk_rss() <= 1.1 * mid + 2 * TK_MIB, "%s: RSS grows, %.1f to %.1f MiB",
             shape->name, mid / TK_MIB, (double)tk_rss() / TK_MIB);
    /* The producers may wait for room in the queue: let them end before the reclaimer. */
    atomic_store(&phase, 2);
    for (int i = 0; i < N_PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    pthread_mutex_lock(&queue.lock);
    queue.is_closed = true;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    pthread_join(reclaimer, NULL);
}

int main(int argc, char **argv)
{
    tk_init("kf02", "a thread that only frees", argc, argv);
    /* Large against what an allocator may keep for itself whatever is live. */
    size_t small = tk_count(15000, 20000), large = tk_count(75, 100);
    struct shape shapes[] = {
        {"replaced", 592, small, REPLACE},
        {"owners stop", 592, small, STOP},
        {"owners exit", 592, small, LEAVE},
        {"large", 80 * 1024, large, REPLACE},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        tk_child(shapes[i].name, run, &shapes[i], 300);
    return tk_finish();
}
