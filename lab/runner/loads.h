/* SPDX-License-Identifier: MIT */
/* The workloads of slub-bench-load as the runner knows them: workloads/loads.def as a table. */
#ifndef SLUB_LAB_LOADS_H
#define SLUB_LAB_LOADS_H

#include "runner/compare_run.h"

#include <stddef.h>

#define LOADS_MOST_METRICS 8

struct lab_load {
    const char *name;
    const char *stresses;
    const char *does_not_show;
    const char *metrics[LOADS_MOST_METRICS]; /* as --metric takes them; NULL ends them early */
};

extern const struct lab_load lab_loads[];
extern const size_t n_lab_loads;

/* NULL when there is none of that name. */
const struct lab_load *lab_load_find(const char *name);

/* Sets the programs of a comparison to those that have the workloads, in all variants, and its metrics to those of the
 * workload unless it has some. 0, or -1 with one line. */
int lab_load_prepare(const struct lab_load *load, struct compare_config *config, char *why, size_t room);

#endif
