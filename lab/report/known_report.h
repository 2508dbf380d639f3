/* SPDX-License-Identifier: MIT */
/* A run of the known failures as text and as JSON (schema "slub-bench/1": see lab/SCHEMA.md). */
#ifndef SLUB_LAB_KNOWN_REPORT_H
#define SLUB_LAB_KNOWN_REPORT_H

#include "runner/known_run.h"

#include <stdio.h>

void known_print(const struct known_run *run, FILE *out);

/* @argv: the words after "slub bench". 0 or negative errno. */
int known_json_write(const struct known_run *run, char *const *argv, FILE *out);

#endif
