/* SPDX-License-Identifier: MIT */
/* A comparison as JSON (schema "slub-bench/1": see lab/SCHEMA.md). */
#ifndef SLUB_LAB_COMPARISON_JSON_H
#define SLUB_LAB_COMPARISON_JSON_H

#include "report/comparison_table.h"
#include "runner/compare_run.h"

#include <jansson.h>
#include <stdio.h>

/* @argv: the words after "slub", or with @is_bench after "slub bench". 0 or negative errno. */
int comparison_json_write(const struct compare_run *run, const struct comparison_table *t, char *const *argv,
                          bool is_bench, FILE *out);

/* One row, as in "summary". */
json_t *comparison_json_row(const struct comparison_table *t, const struct comparison_row *row);

#endif
