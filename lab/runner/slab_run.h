/* SPDX-License-Identifier: MIT */
/* A run of slab_test: what was asked for, and every sample that came of it. */
#ifndef SLUB_LAB_SLAB_RUN_H
#define SLUB_LAB_SLAB_RUN_H

#include "runner/allocators.h"
#include "runner/machine.h"
#include "workloads/slab_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAB_MAX_CPUS          8192
#define LAB_MAX_ALLOCATORS    32
#define LAB_MAX_THREAD_COUNTS 16

enum slab_lanes { SLAB_LANES_ONE, SLAB_LANES_EACH, SLAB_LANES_TWO, SLAB_LANES_ALL };
enum slab_group { SLAB_GROUP_KERNEL, SLAB_GROUP_ADDED };

/* A row of slab_tests.def. */
struct slab_test {
    unsigned number;
    const char *name;
    const char *heading;
    const char *label;
    enum slab_lanes lanes;
    unsigned n_columns;
    enum slab_group group;
    const char *help;
};

extern const struct slab_test slab_tests[SLAB_N_TESTS];

struct lab_config {
    enum lab_api api;
    struct lab_allocator allocators[LAB_MAX_ALLOCATORS]; /* the control is the first */
    size_t n_allocators;
    bool tests[SLAB_N_TESTS];
    size_t sizes[SLAB_MAX_SIZES]; /* as asked for; none: the sizes of each test */
    size_t n_sizes;
    uint64_t count;
    uint64_t n_repeats;
    uint64_t n_warmup;
    uint64_t n_rounds;
    uint64_t n_freers; /* 0: all threads */
    uint64_t idle_s;
    uint64_t timeout_s;
    uint64_t seed;
    bool robust;
    unsigned cpus[LAB_MAX_CPUS]; /* in the order in which threads take them */
    size_t n_cpus;
    size_t thread_counts[LAB_MAX_THREAD_COUNTS];
    size_t n_thread_counts;
};

/* One test with one number of threads: a table of the output. */
struct lab_case {
    enum slab_test_id test;
    unsigned n_threads; /* in the worker */
    uint32_t n_lanes;   /* that are timed */
    size_t sizes[SLAB_MAX_SIZES];
    size_t n_sizes;
};

/* What one worker handed back. */
struct lab_result {
    size_t case_index;
    size_t allocator_index;
    unsigned round;
    void *copy; /* of the shared memory */
    const struct slab_wire_head *head;
    const struct slab_wire_size *sizes;
    const uint64_t *ticks;
};

struct lab_run {
    const struct lab_config *config;
    struct lab_machine machine;
    double tick_ns;
    struct lab_case *cases;
    size_t n_cases;
    struct lab_result *results; /* in the order of measuring */
    size_t n_results;
    uint64_t started_unix_s;
};

/* Bytes of objects that the largest test holds at once. */
uint64_t lab_run_memory_bytes(const struct lab_config *config);

/* Starts every allocator's worker once: it must own the calls. Fills in versions. 0, or -1 with one
 * line. */
int lab_run_check(struct lab_config *config, char *why, size_t room);

/* Measures. 0, or -1 with one line. Release the run in both cases. */
int lab_run_measure(struct lab_run *run, const struct lab_config *config, char *why, size_t room);
void lab_run_release(struct lab_run *run);

/* Why a test cannot run with these CPUs and threads, or NULL when it can. */
const char *lab_run_skips(const struct lab_config *config, enum slab_test_id test);

/* Ticks per operation of one series, all rounds after each other. @lane: its number, or -1 for the
 * mean of the lanes. @out has room for n_rounds * n_repeats. Returns how many. */
size_t lab_run_series(const struct lab_run *run, size_t case_index, size_t allocator_index,
                      size_t size_index, int lane, unsigned column, double *out);

#endif
