/* SPDX-License-Identifier: MIT */
/* A comparison as JSON (schema "slub-bench/1": see lab/SCHEMA.md). */
#ifndef SLUB_LAB_COMPARISON_JSON_H
#define SLUB_LAB_COMPARISON_JSON_H

#include "report/comparison_table.h"
#include "runner/compare_run.h"

#include <jansson.h>
#include <stdio.h>

/* All runs that @t has rows of. @argv: the words after "slub", or with @is_bench after "slub bench". @skipped: array,
 * taken over. 0 or negative errno. */
int comparison_json_write(const struct compare_run *runs, size_t n_runs, const struct comparison_table *t,
                          json_t *skipped, char *const *argv, bool is_bench, FILE *out);

/* One row, as in "summary". */
json_t *comparison_json_row(const struct comparison_table *t, const struct comparison_row *row);

#endif
