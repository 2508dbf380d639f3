/* SPDX-License-Identifier: MIT */
/* The command line of `slub bench slab_test`. */
#ifndef SLUB_CLI_BENCH_ARGS_H
#define SLUB_CLI_BENCH_ARGS_H

#include "runner/slab_run.h"
#include "stats/summary.h"

#include <stdbool.h>

enum bench_style { BENCH_STYLE_DEFAULT, BENCH_STYLE_KERNEL, BENCH_STYLE_TABLE };

struct bench_args {
    struct lab_config config;
    const char *json_file; /* "-": standard output, and nothing else there; NULL: none */
    enum bench_style style;
    enum lab_stat stat;
    bool has_stat;
    bool all_stats;
    bool in_ns;
    bool is_help;
    bool is_version;
    const char *missing_node; /* of --nodes: this machine has it not; nothing to measure */
};

/* CLI_DONE, or one line on stderr and the status. Release in both cases. */
int bench_args_parse(struct bench_args *a, int argc, char **argv);
void bench_args_release(struct bench_args *a);

int bench_args_print_help(void);

#endif
