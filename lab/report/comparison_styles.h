/* SPDX-License-Identifier: MIT */
/* The shapes in which a table of comparisons is printed: those of mailing lists, of perf stat, of benchstat. Plain text
 * that survives mail.
 */
#ifndef SLUB_LAB_COMPARISON_STYLES_H
#define SLUB_LAB_COMPARISON_STYLES_H

#include "report/comparison_table.h"

#include <stdio.h>

struct comparison_style {
    const char *name;
    const char *help;
    void (*print)(const struct comparison_table *t, enum lab_stat stat, FILE *out);
};

extern const struct comparison_style comparison_styles[];
extern const size_t n_comparison_styles;

/* NULL when there is none of that name. */
const struct comparison_style *comparison_style_find(const char *name);

#endif
