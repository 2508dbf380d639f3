/* SPDX-License-Identifier: MIT */
/* A run of whole programs: which ones on which allocators, every figure, and why one failed. */
#ifndef SLUB_LAB_PROGRAM_RUN_H
#define SLUB_LAB_PROGRAM_RUN_H

#include "runner/program_table.h"
#include "runner/slab_run.h"

#include <sys/types.h>

#define PROGRAM_MOST 32 /* rows of programs.def */

/* Fills in the file that owns malloc in a process. 0, or -1 with one line. */
typedef int program_find_owner(pid_t pid, char *owner, size_t owner_room, char *why, size_t room);

struct program_config {
    struct lab_config lab; /* allocators, rounds, timeout and seed; there is no control */
    bool chosen[PROGRAM_MOST];
    bool is_short;
    program_find_owner *find_owner;
};

struct program_result {
    size_t program_index;
    size_t allocator_index;
    unsigned round;
    char failure[512]; /* "" when it ran, gave the right answer and had the right malloc; else
                          nothing below is valid */
    uint64_t wall_ns;  /* both times of one start */
    uint64_t cpu_ns;
    uint64_t peak_bytes;
    char peak_program[16];
    unsigned n_measured;
};

struct program_run {
    const struct program_config *config;
    struct lab_machine machine;
    double tick_ns;
    uint64_t started_unix_s;
    char skipped[PROGRAM_MOST][256]; /* why, or "" */
    struct program_result *results;  /* in the order of measuring */
    size_t n_results;
};

enum program_figure { PROGRAM_WALL, PROGRAM_CPU, PROGRAM_PEAK };

/* 0, or -1 with one line. Release in both cases. A program that fails is a result. */
int program_run_measure(struct program_run *run, const struct program_config *config, char *why,
                        size_t room);
void program_run_release(struct program_run *run);

/* Times: the shortest of the rounds; memory: the median. Round 0 also looks into every process, so
 * its times are used only when there is no other. 0 when a round failed or there is none. */
double program_run_value(const struct program_run *run, size_t program_index,
                         size_t allocator_index, enum program_figure figure);

bool program_run_has_failed(const struct program_run *run);

#endif
