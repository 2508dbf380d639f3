/* SPDX-License-Identifier: MIT */
/* A table of comparisons: pairs of series with what is said of them, from a run or from stored results. */
#ifndef SLUB_LAB_COMPARISON_TABLE_H
#define SLUB_LAB_COMPARISON_TABLE_H

#include "runner/compare_run.h"
#include "stats/comparison.h"

#include <stddef.h>
#include <stdio.h>

struct comparison_row {
    char *name; /* "time", "batch 64 alloc" */
    char *group; /* what rows of one table share: "slab_test batch", "hackbench"; may be "" */
    char *side;  /* label of B: "after", "slub" */
    char unit[16];
    enum lab_better better;
    size_t size_bytes; /* of the objects, where the series is about one size; else 0 */
    char op[8];        /* "alloc", "free", "pair", or "" */
    double *a, *b;     /* in the order of measuring */
    size_t na, nb;
    double *control; /* na values, or NULL */
    struct lab_comparison comparison;
    struct comparison_placement {
        unsigned n; /* variants of the program; 0: it had one */
        double ratio[COMPARE_MOST_VARIANTS]; /* of the medians, in blocks of each */
        double p; /* of the ratio being the same in all: Kruskal and Wallis */
    } placement;
};

struct comparison_table {
    const char *a_label; /* "before", "system" */
    struct lab_rules rules;
    struct comparison_row *rows;
    size_t n_rows;
};

/* Strings are copied, the series taken over. 0 or -ENOMEM. */
int comparison_table_add(struct comparison_table *t, const char *group, const char *name, const char *side,
                         struct comparison_row row);

/* Adds every metric of every side of a run against its first side; the group has the name of what was run where
 * @is_one_of_several. The runs of a table have the same sides and rules. 0 or -ENOMEM. */
int comparison_table_add_run(struct comparison_table *t, const struct compare_run *run, bool is_one_of_several);

/* Computes and judges the rows that were added. 0 or -ENOMEM. */
int comparison_table_judge(struct comparison_table *t);

void comparison_table_release(struct comparison_table *t);

/* Whether the difference depends on where the code lies, in words; or "". */
void comparison_row_placement(const struct comparison_row *row, char *text, size_t room);

/* Words of a verdict, with those that suit the unit. */
void comparison_row_verdict(const struct comparison_table *t, const struct comparison_row *row, char *text,
                            size_t room);

#endif
