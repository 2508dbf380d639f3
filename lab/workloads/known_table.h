/* SPDX-License-Identifier: MIT */
/* The rows of known_cases.def as data, for those who choose cases and judge figures. */
#ifndef SLUB_LAB_KNOWN_TABLE_H
#define SLUB_LAB_KNOWN_TABLE_H

#include "workloads/known_cases.h"

enum known_unit { KNOWN_BYTES, KNOWN_NS, KNOWN_COUNT, KNOWN_PER_MILLE };
enum known_rule { KNOWN_AT_MOST, KNOWN_AT_LEAST, KNOWN_AT_MOST_PEER };

struct known_figure {
    const char *name;
    enum known_unit unit;
    enum known_rule rule;
    uint64_t limit;
};

struct known_case {
    unsigned number; /* of the public list of failures; from 101: the kernel's, K1 and on */
    const char *name;
    int n_cpus;
    const char *help;
    size_t n_figures;
    struct known_figure figures[KNOWN_MOST_FIGURES];
};

const struct known_case *known_case(enum known_case_id id);

/* KNOWN_N_CASES when there is none of that name. @chars: length of the name. */
enum known_case_id known_case_find(const char *name, size_t chars);

const char *known_unit_name(enum known_unit unit);

#endif
