/* SPDX-License-Identifier: MIT */
/* The members that the JSON of every benchmark has: see lab/SCHEMA.md. */
#ifndef SLUB_LAB_JSON_PARTS_H
#define SLUB_LAB_JSON_PARTS_H

#include "runner/slab_run.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

json_t *parts_number(uint64_t v);
json_t *parts_text_or_null(const char *s);
json_t *parts_any_text(const char *s); /* a word of the command line need not be valid UTF-8 */

/* The options that every benchmark over a list has. */
json_t *parts_list_config(const struct lab_config *c, bool is_short);

/* What a run writes, in this order: head (schema, benchmark, version, time, command, environment, machine), "config",
 * "allocators", "skipped", "results", "summary". */
struct parts_run {
    const char *benchmark;
    bool is_whole_command; /* argv begins with the subcommand; else it is what follows "slub bench" */
    uint64_t started_unix_s;
    const struct lab_machine *machine;
    double tick_ns;
    const struct lab_config *lab;
    json_t *config, *skipped; /* taken over */
    size_t n_results;
    json_t *(*result)(const void *run, size_t i);
    int (*write_summaries)(const void *run, FILE *out); /* elements; 0 or negative errno */
    const void *run;                                    /* of both calls */
};

/* @argv: the words of the command line, see above. 0 or negative errno. */
int parts_write_run(const struct parts_run *p, char *const *argv, FILE *out);

/* Takes @value over. 0 or negative errno. */
int parts_write_element(FILE *out, size_t index, json_t *value);

#endif
