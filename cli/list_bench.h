/* SPDX-License-Identifier: MIT */
/* Owns what the benchmarks over a list of named things (cases, programs) share: options, files, order of steps. */
#ifndef SLUB_CLI_LIST_BENCH_H
#define SLUB_CLI_LIST_BENCH_H

#include "runner/slab_run.h"

#include <stdio.h>

struct list_bench {
    const char *name;         /* of the benchmark */
    const char *list_option;  /* "cases": --cases LIST */
    const char *thing;        /* "case", in messages */
    struct lab_config *lab;   /* filled from the options */
    bool *is_short;           /* likewise */
    int (*print_help)(void);  /* an exit status */
    bool (*choose)(const char *thing, size_t n); /* of n characters; NULL: all. False: there is none. */
    int (*measure)(char *why, size_t room);      /* 0, or -1 with one line */
    void (*print)(FILE *out);
    int (*write_json)(char **argv, FILE *out);   /* 0 or a negative errno */
    bool (*has_failed)(void);
    void (*release)(void);                       /* also after a failure */
};

/* argv[0] is the name of the benchmark. Returns an exit status. */
int list_bench_run(const struct list_bench *b, int argc, char **argv);

#endif
