/* SPDX-License-Identifier: MIT */
/* The state of one worker process, and what its files call in each other.
 *
 * A worker runs one test over its sizes, with one allocator, and ends. It uses neither malloc nor
 * stdio of its own: whatever the process allocates between two readings of the clock is the test's.
 */
#ifndef SLUB_LAB_SLAB_WORKER_H
#define SLUB_LAB_SLAB_WORKER_H

#include "workloads/slab_wire.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLAB_MAX_CPUS 8192

/* What the runner asked for. */
struct slab_params {
    enum slab_test_id test;
    size_t count; /* objects of one thread in one repeat */
    size_t n_repeats;
    size_t n_warmup;    /* repeats that come first and are not kept */
    unsigned n_threads; /* all of them, the main thread included */
    unsigned n_freers;  /* REMOTE_M: threads that free */
    bool robust;        /* REMOTE_FREE: free object by object round the CPUs, not CPU by CPU */
    bool check_only;    /* tell who owns the calls and end */
    bool is_known_case; /* run known_case, not a test */
    bool is_full;       /* … in its full form */
    unsigned known_case;
    uint64_t seed;
    size_t n_sizes;
    size_t sizes[SLAB_MAX_SIZES];
    unsigned n_cpus;
    uint16_t cpus[SLAB_MAX_CPUS];
    const char *expect_path; /* file that must own the calls; NULL: any */
};

/* One thread of the test. A cache-line pair of its own: neighbours write at the same time. */
struct slab_lane {
    _Alignas(128) uint64_t ticks[SLAB_MAX_COLUMNS]; /* of the sample under way */
    void **objs;                                    /* count slots, mapped before the test */
    struct slab_worker *worker;
    unsigned index;
    pthread_t thread;
};

/* Meeting point of all lanes; who comes last notes the time. Spins first, so that all leave
 * together. */
struct slab_barrier {
    _Alignas(128) _Atomic uint32_t generation;
    _Atomic uint32_t n_arrived;
    _Atomic uint32_t n_sleeping;
    uint32_t n_lanes;
    uint32_t n_spins;
    uint64_t released_at; /* ticks; written before generation changes */
};

struct slab_worker {
    struct slab_params params;
    struct slab_wire_head *head;
    struct slab_wire_size *sizes;
    uint64_t *ticks;
    struct slab_lane *lanes;
    struct slab_barrier barrier;
    size_t size;           /* bytes, of the size under way */
    uint32_t *order;       /* count indices in random order: SHUFFLED, MIXED */
    uint32_t *mixed_sizes; /* count sizes: MIXED */
    uint64_t allocs_per_repeat;
    struct slub_cache_info *caches; /* room for slub_snapshot() */
    size_t n_caches;
};

/* One test. Every lane calls run() once a repeat; prepare and finish are main's, once a size. */
struct slab_body {
    void (*prepare)(struct slab_worker *w); /* may be NULL */
    void (*run)(struct slab_worker *w, struct slab_lane *lane);
    void (*finish)(struct slab_worker *w); /* may be NULL */
};

/* slab_single.c, slab_shared.c: the body of a test. */
const struct slab_body *slab_single_body(enum slab_test_id test);
const struct slab_body *slab_shared_body(enum slab_test_id test);
size_t slab_batch_objs(enum slab_test_id test);

/* slab_harness.c: run the test of w->params over all sizes on all lanes. */
void slab_harness_run(struct slab_worker *w);
void slab_barrier_wait(struct slab_barrier *b);

/* slab_probe.c: owner of the calls, allocator's version, slub's counters. */
bool slab_probe_owner(struct slab_worker *w);
void slab_probe_counters_start(struct slab_worker *w, size_t size_index);
void slab_probe_counters_stop(struct slab_worker *w, size_t size_index);

/* slab_worker.c */
_Noreturn void slab_worker_fail(struct slab_worker *w, const char *message);
void *slab_worker_map(size_t bytes); /* prefaulted, zero; ends the process on failure */

/* What every loop does with a NULL. Out of line, so that the loops stay small. */
_Noreturn void slab_worker_no_memory(struct slab_worker *w);

/* A small generator with a state of its own: the same numbers for every allocator. */
static inline uint64_t slab_random_next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
