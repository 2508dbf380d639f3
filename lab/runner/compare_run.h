/* SPDX-License-Identifier: MIT */
/* A comparison: sides measured in turn, in fresh processes, until their difference is known well enough.
 *
 * A block holds every side once, and the first side once more, as the control, in random order. What is said of a
 * difference is said of blocks that are whole.
 */
#ifndef SLUB_LAB_COMPARE_RUN_H
#define SLUB_LAB_COMPARE_RUN_H

#include "runner/metrics.h"
#include "runner/program_run.h"
#include "stats/comparison.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMPARE_MOST_SIDES    26 /* letters */
#define COMPARE_MOST_VARIANTS 8
#define COMPARE_N_PILOT       5

struct compare_side {
    const char *label;
    const struct lab_allocator *allocator; /* NULL: whatever the command's environment brings */
    char *const *argv;
};

struct compare_config {
    struct lab_config lab; /* allocators, timeout and seed */
    const char *benchmark; /* name of the workload, or of the program */
    struct compare_side sides[COMPARE_MOST_SIDES];
    size_t n_sides;
    const char *variants[COMPARE_MOST_VARIANTS]; /* of the program, differing in the place of their code; a block takes
                                                    one of them for all sides. None: argv[0] */
    size_t n_variants;
    struct lab_metric metrics[LAB_MOST_METRICS]; /* the first decides when it is enough */
    size_t n_metrics;
    struct lab_rules rules;
    uint64_t most_runs;
    uint64_t budget_s; /* no block is begun later than this */
    bool is_fixed;     /* measure most_runs, however narrow the interval */
    const char *cpus;  /* "0,1", or NULL for all */
    const char *journal; /* file; NULL: in the user's state directory; "": none */
    program_find_owner *find_owner;
    void (*announce)(const void *run); /* the plan is known, measuring begins; may be NULL */
};

enum compare_end { COMPARE_NARROW, COMPARE_RUNS, COMPARE_BUDGET, COMPARE_INTERRUPTED };

struct compare_sample {
    unsigned block;
    unsigned side; /* n_sides: the control; n_sides + 1: the pilot */
    unsigned place; /* in the order of its block */
    unsigned variant;
    uint64_t started_ms; /* since the run began */
    unsigned environment_pad, path_pad;
    struct start_report report;
    double values[LAB_MOST_METRICS];
};

struct compare_run {
    const struct compare_config *config;
    struct lab_machine machine;
    double tick_ns;
    uint64_t started_unix_s;
    struct compare_sample *samples; /* in the order of measuring */
    size_t n_samples;
    size_t n_resumed; /* of them, from the journal of a run that was ended */
    size_t n_blocks;  /* whole ones */
    double pilot_noise; /* of the first metric, relative; before measuring */
    double detectable;  /* relative difference that most_runs will show */
    unsigned n_processes, n_strangers; /* of one run of each side: those with another malloc than the side's */
    char stranger[256];                /* one of them */
    enum compare_end end;
    char journal_path[PATH_MAX]; /* "" for none */
};

/* 0; else one line and -1: a side failed; -2: the set-up is wrong, nothing was measured; -3: what is to be measured
 * cannot run here. Release in every case. */
int compare_run_measure(struct compare_run *run, const struct compare_config *config, char *why, size_t room);
void compare_run_release(struct compare_run *run);

/* Values of one side (or n_sides: of the control), a whole block each, in order. @out has room for n_blocks. */
void compare_run_series(const struct compare_run *run, size_t side, size_t metric, double *out);

#endif
