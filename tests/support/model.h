/* SPDX-License-Identifier: MIT */
/* A random heap workload with a reference model: it knows every live block, its owner and its
 * contents.
 *
 * Threads allocate, resize, free their own blocks and the blocks of others (swapped through locked
 * exchange slots), and stamp every usable byte. A block handed out twice, a lost byte of a realloc,
 * a calloc that is not zero, a wrong alignment or a usable size that changes stops the run with one
 * line on stderr. The allocator is reached through struct model_ops, so one workload serves malloc,
 * slub_alloc and caches. */
#ifndef SLUB_TESTS_MODEL_H
#define SLUB_TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds: 0 takes any size; 1 … n_kinds-1 are caches of one size each and cannot be resized or
 * aligned. */
struct model_ops {
    const char *name;
    unsigned n_kinds;
    size_t (*kind_bytes)(unsigned kind); /* these two are only asked for kinds above 0 */
    size_t (*kind_align)(unsigned kind);
    void *(*alloc)(unsigned kind, size_t bytes);
    void *(*zalloc)(unsigned kind, size_t bytes);
    void *(*aligned)(size_t align, size_t bytes);
    void *(*resize)(void *p, size_t bytes);
    void (*release)(unsigned kind, void *p);
    size_t (*usable)(unsigned kind, const void *p);
    void (*trim)(void); /* or NULL */
};

struct model_config {
    const struct model_ops *ops;
    unsigned n_threads;
    double seconds;
    uint64_t seed;
    size_t max_bytes; /* largest block; 0: 1 MiB */
    unsigned n_slots; /* live blocks per thread; 0: 192 */
    bool may_fail;    /* the allocator may return NULL (limits, injected failures) */
    bool forks;       /* fork now and then; the child checks and uses its heap */
    bool signals; /* every thread gets a signal each millisecond; the handler does not allocate */
    bool moves;   /* threads are moved between CPUs at random each millisecond */
    bool churn;   /* threads end all the time; their successors own their blocks */
};

struct model_result {
    uint64_t n_ops;
    uint64_t n_forks;
    uint64_t n_signals;
    uint64_t n_threads_made;
};

/* malloc and its family, as the process has them. */
extern const struct model_ops model_malloc_ops;

/* True when no rule was broken. The heap holds no block of the run afterwards. */
bool model_run(const struct model_config *config, struct model_result *result);

#endif
