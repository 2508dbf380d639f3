/* SPDX-License-Identifier: MIT */
/* A run of slab_test as JSON, schema "slub-bench/1": see lab/SCHEMA.md. */
#ifndef SLUB_LAB_SLAB_JSON_H
#define SLUB_LAB_SLAB_JSON_H

#include "report/slab_view.h"

#include <stdio.h>

/* One line per result, so that stored files compare by line. @argv: the words after "slub bench". 0
 * or negative errno. */
int slab_json_write(const struct slab_view *v, char *const *argv, FILE *out);

#endif
