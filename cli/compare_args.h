/* SPDX-License-Identifier: MIT */
/* The command line of `slub compare`. */
#ifndef SLUB_CLI_COMPARE_ARGS_H
#define SLUB_CLI_COMPARE_ARGS_H

#include "report/comparison_styles.h"
#include "runner/compare_run.h"
#include "runner/loads.h"

#include <stdbool.h>

#define COMPARE_MOST_WORDS 512
#define COMPARE_MOST_LOADS 32

struct compare_args {
    struct compare_config config; /* of every run, but for what compare_args_use() sets */
    const struct comparison_style *style;
    enum lab_stat stat;
    const char *json_file; /* "-": standard output, and nothing else there; NULL: none */
    const char *files[2];  /* stored results; NULL: measure */
    const char *command;         /* of messages: "compare", or "bench" */
    const struct lab_load *loads[COMPARE_MOST_LOADS];
    size_t n_loads; /* 0: a program, or commands */
    char *words[COMPARE_MOST_WORDS];
    char *shell_words[2][4];
    bool is_quiet;        /* standard output is for JSON */
    bool is_machine_read; /* the style is for programs: nothing but its table */
    bool is_help;
    bool is_version;
};

/* @load: of `slub bench NAME`, whose name argv[0] then is; NULL: `slub compare`. CLI_DONE, or one line on stderr and
 * the status. Release in both cases. */
int compare_args_parse(struct compare_args *a, const struct lab_load *load, int argc, char **argv);
/* Sets in @config what the i-th workload needs: programs, words, metrics. CLI_DONE, or one line and the status. */
int compare_args_use(struct compare_args *a, size_t i, struct compare_config *config);

void compare_args_release(struct compare_args *a);

int compare_args_print_help(const struct lab_load *load);

#endif
