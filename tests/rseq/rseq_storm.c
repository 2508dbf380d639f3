/* SPDX-License-Identifier: MIT */
/* More threads than CPUs, moved about at random, under a storm of signals: sections are preempted, migrated and
 * interrupted all the time. Objects go from thread to thread; every one is stamped by its owner. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <slub/slub.h>
#include <slub/stats.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "percpu/percpu.h"
#include "rng.h"
#include "stamp.h"
#include "testkit.h"

enum { THREADS = 16, KEPT = 64, SHARED = 256, ROUNDS_A_MOVE = 400 };

struct block {
    size_t size;
    uint64_t id; /* of the stamp behind this head */
};

static _Atomic(struct block *) shared_blocks[SHARED];
static atomic_bool stop;
static atomic_ulong n_signals, n_moves, n_allocs;
static int cpus[256], n_cpus;

static void on_alarm(int sig)
{
    (void)sig;
    atomic_fetch_add_explicit(&n_signals, 1, memory_order_relaxed);
}

static void drop(struct block *b)
{
    if (b == NULL)
        return;
    if (stamp_first_bad(b + 1, b->size - sizeof *b, b->id) != b->size - sizeof *b)
        tk_check(false, "a block of %zu bytes has two owners", b->size);
    slub_free(b);
}

static struct block *make(struct rng *r)
{
    static const size_t sizes[] = {24, 64, 64, 64, 100, 200, 480, 1500, 5000};
    size_t size = sizes[rng_below(r, sizeof sizes / sizeof *sizes)];
    struct block *b = slub_alloc(size, 0);
    if (!tk_check(b != NULL, "out of memory"))
        return NULL;
    b->size = size;
    b->id = rng_next(r);
    stamp_fill(b + 1, size - sizeof *b, b->id);
    return b;
}

static void move_about(struct rng *r)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus[rng_below(r, (uint64_t)n_cpus)], &set);
    if (rng_below(r, 4) == 0)
        for (int i = 0; i < n_cpus; i++)
            CPU_SET(cpus[i], &set);
    if (sched_setaffinity(0, sizeof set, &set) == 0)
        atomic_fetch_add(&n_moves, 1);
}

static void *work(void *arg)
{
    struct rng r = {tk_seed() + (uintptr_t)arg};
    struct block *kept[KEPT] = {NULL};
    while (!atomic_load(&stop)) {
        for (int i = 0; i < ROUNDS_A_MOVE; i++) {
            struct block **k = &kept[rng_below(&r, KEPT)];
            if (rng_below(&r, 3) == 0) {
                *k = atomic_exchange(&shared_blocks[rng_below(&r, SHARED)], *k);
            } else {
                drop(*k);
                *k = make(&r);
            }
        }
        atomic_fetch_add(&n_allocs, ROUNDS_A_MOVE);
        move_about(&r);
    }
    for (int i = 0; i < KEPT; i++)
        drop(kept[i]);
    return NULL;
}

static void check_quiet(void)
{
    static struct slub_cache_info ci[128];
    struct slub_info info = {.size = sizeof info};
    for (size_t i = 0; i < 128; i++)
        ci[i].size = sizeof ci[i];
    int n = slub_snapshot(&info, ci, 128);
    tk_check(info.live_objects == 0, "%llu objects are left", (unsigned long long)info.live_objects);
    for (int i = 0; i < n && i < 128; i++)
        if (ci[i].slab_bytes != 0)
            tk_check(ci[i].stat[SLUB_STAT_SLAB_TAKE] - ci[i].stat[SLUB_STAT_SLAB_GIVE] == ci[i].objects_cached,
                     "%s: an object is neither live nor at hand", ci[i].name);
}

int main(int argc, char **argv)
{
    pthread_t t[THREADS];
    struct sigaction sa;
    struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    tk_init("rseq", "storm of signals and migrations", argc, argv);
    slub_free(slub_alloc(8, 0));
    if (argc < 2 && percpu_backend() != BACKEND_RSEQ)
        tk_skip("restartable sequences are not in use here (%s)", percpu_backend_name());
    n_cpus = tk_cpus(cpus, 256);
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_alarm;
    sa.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        tk_check(pthread_create(&t[i], NULL, work, (void *)(i + 1)) == 0, "pthread_create");
    double end = tk_now() + tk_seconds(argc < 2 ? 3 : 1, 30);
    while (tk_now() < end)
        tk_sleep(0.05);
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < SHARED; i++)
        drop(atomic_load(&shared_blocks[i]));
    check_quiet();
    tk_check(atomic_load(&n_signals) > 100, "%lu signals", atomic_load(&n_signals));
    tk_note("%s, %lu rounds, %lu signals, %lu moves", percpu_backend_name(), atomic_load(&n_allocs),
            atomic_load(&n_signals), atomic_load(&n_moves));
    return tk_finish();
}
