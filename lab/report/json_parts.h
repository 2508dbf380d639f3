/* SPDX-License-Identifier: MIT */
/* The members that the JSON of every benchmark has: see lab/SCHEMA.md. */
#ifndef SLUB_LAB_JSON_PARTS_H
#define SLUB_LAB_JSON_PARTS_H

#include "runner/allocators.h"
#include "runner/machine.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

json_t *parts_number(uint64_t v);
json_t *parts_text_or_null(const char *s);
json_t *parts_any_text(const char *s); /* a word of the command line need not be valid UTF-8 */

/* Everything before "config": schema, benchmark, version, time, command, environment, machine.
 * @argv: the words after "slub bench". 0 or negative errno. */
int parts_write_head(FILE *out, const char *benchmark, uint64_t started_unix_s, char *const *argv,
                     const struct lab_machine *machine, double tick_ns);

json_t *parts_allocators(const struct lab_allocator *allocators, size_t n);

/* Both take @value over. 0 or negative errno. */
int parts_write_member(FILE *out, const char *name, json_t *value);
int parts_write_element(FILE *out, size_t index, json_t *value);

#endif
