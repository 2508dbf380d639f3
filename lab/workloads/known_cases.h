/* SPDX-License-Identifier: MIT */
/* The cases in which allocators are known to fail, as bodies that measure and do not judge.
 *
 * The benchmark runs them in a worker and judges by the limits of known_cases.def; the tests run
 * the same bodies and judge times 20 times wider. A body runs once in a process of its own, uses
 * malloc only for what the case is about, and writes its figures in the order of the table.
 */
#ifndef SLUB_LAB_KNOWN_CASES_H
#define SLUB_LAB_KNOWN_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum known_case_id {
#define KNOWN_CASE(id, number, name, body, cpus, help) KNOWN_##id,
#define KNOWN_FIGURE(id, name, unit, rule, limit)
#include "workloads/known_cases.def"
#undef KNOWN_CASE
#undef KNOWN_FIGURE
    KNOWN_N_CASES
};

#define KNOWN_MOST_FIGURES 4
#define KNOWN_PEER         "mimalloc"

struct known_form {
    bool full;      /* the long form, whose limits are the table's */
    double seconds; /* of a timed part; 0: as the case has it */
    uint64_t seed;
};

/* NULL when done; else one line that says why the case could not be carried out. */
typedef const char *known_body(const struct known_form *form, uint64_t *figures);

#define KNOWN_CASE(id, number, name, body, cpus, help) known_body body;
#define KNOWN_FIGURE(id, name, unit, rule, limit)
#include "workloads/known_cases.def"
#undef KNOWN_CASE
#undef KNOWN_FIGURE

extern known_body *const known_bodies[KNOWN_N_CASES];

static inline size_t known_count(const struct known_form *form, size_t brief, size_t full)
{
    return form->full ? full : brief;
}

static inline double known_seconds(const struct known_form *form, double brief, double full)
{
    return form->seconds > 0 ? form->seconds : form->full ? full : brief;
}

static inline uint64_t known_ns(double seconds)
{
    return (uint64_t)(seconds * 1e9);
}

/* Growth from one reading to a later one; what shrank did not grow. */
static inline uint64_t known_growth(size_t from, size_t to)
{
    return to > from ? to - from : 0;
}

static inline uint64_t known_per_mille(double part, double whole)
{
    return part > 0 && whole > 0 ? (uint64_t)(1000 * part / whole + 0.5) : 0;
}

/* A table of the case's own, not from malloc. Ends the process when there is no memory. */
void *known_table(size_t n, size_t bytes);

/* What every child of the fork cases does: it ends the process, with 0 when all went well. */
_Noreturn void known_fork_child(unsigned long number);

/* One way to end a program with n_blocks blocks left to exit handlers: "plain", "thread", "fork",
 * "quick". Writes the time at which the exit began to *began_ns when that is not NULL. */
_Noreturn void known_end_program(const char *how, size_t n_blocks, uint64_t *began_ns);

#endif
