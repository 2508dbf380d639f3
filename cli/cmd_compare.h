/* SPDX-License-Identifier: MIT */
/* `slub bench NAME` of the workloads that are programs of our own. */
#ifndef SLUB_CLI_CMD_COMPARE_H
#define SLUB_CLI_CMD_COMPARE_H

#include "runner/loads.h"

/* argv[0] is the name of the benchmark. Returns an exit status. */
int bench_load(const struct lab_load *load, int argc, char **argv);

#endif
