/* SPDX-License-Identifier: MIT */
/* A run of whole programs as text and as JSON (schema "slub-bench/1": see lab/SCHEMA.md). */
#ifndef SLUB_LAB_PROGRAM_REPORT_H
#define SLUB_LAB_PROGRAM_REPORT_H

#include "runner/program_run.h"

#include <stdio.h>

void program_print(const struct program_run *run, FILE *out);

/* @argv: the words after "slub bench". 0 or negative errno. */
int program_json_write(const struct program_run *run, char *const *argv, FILE *out);

#endif
