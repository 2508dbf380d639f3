/* SPDX-License-Identifier: MIT */
/* A run of the known failures: which cases on which allocators, every figure, and the judgement. */
#ifndef SLUB_LAB_KNOWN_RUN_H
#define SLUB_LAB_KNOWN_RUN_H

#include "runner/slab_run.h"
#include "workloads/known_table.h"

struct known_config {
    struct lab_config lab; /* allocators, rounds, timeout and seed; there is no control */
    bool cases[KNOWN_N_CASES];
    bool is_short;
};

struct known_result {
    enum known_case_id id;
    size_t allocator_index;
    unsigned round;
    char failure[256]; /* "" when the case was carried out; else no figure is valid */
    uint64_t figures[KNOWN_MOST_FIGURES];
};

struct known_run {
    const struct known_config *config;
    struct lab_machine machine;
    double tick_ns;
    uint64_t started_unix_s;
    struct known_result *results; /* in the order of measuring */
    size_t n_results;
};

enum known_verdict { KNOWN_PASSES, KNOWN_FAILS, KNOWN_NOT_JUDGED };

/* Why a case cannot run here, or NULL when it can. */
const char *known_run_skips(enum known_case_id id);

/* 0, or -1 with one line. Release in both cases. A case that an allocator cannot carry out is a
 * result. */
int known_run_measure(struct known_run *run, const struct known_config *config, char *why,
                      size_t room);
void known_run_release(struct known_run *run);

/* Of all rounds: the shortest time, the highest rate, the most of everything else. False when a
 * round failed; then *failure is its reason. */
bool known_run_value(const struct known_run *run, enum known_case_id id, size_t figure,
                     size_t allocator_index, uint64_t *value, const char **failure);

enum known_verdict known_run_judge(const struct known_run *run, enum known_case_id id,
                                   size_t figure, size_t allocator_index);

/* Limits count for slub where it is in the run, else for all. */
bool known_run_counts(const struct known_run *run, size_t allocator_index);

/* Whether an allocator that counts fails a limit. */
bool known_run_has_failed(const struct known_run *run);

#endif
