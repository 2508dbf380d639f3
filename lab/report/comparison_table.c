/* SPDX-License-Identifier: MIT */
/* Owns the rows of a table of comparisons. */
#include "report/comparison_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_BLOCKS    5 /* of a variant */
#define PLACEMENT_ALPHA 0.01
#define LEAST_PLACEMENT 0.01 /* part of the value: less is true, and does not matter */

int comparison_table_add(struct comparison_table *t, const char *group, const char *name, const char *side,
                         struct comparison_row row)
{
    struct comparison_row *more = realloc(t->rows, (t->n_rows + 1) * sizeof(*more));

    if (more != NULL)
        t->rows = more;
    row.name = strdup(name);
    row.group = strdup(group);
    row.side = strdup(side);
    if (more == NULL || row.name == NULL || row.group == NULL || row.side == NULL) {
        free(row.name);
        free(row.group);
        free(row.side);
        free(row.a);
        free(row.b);
        free(row.control);
        return -ENOMEM;
    }
    t->rows[t->n_rows++] = row;
    return 0;
}

void comparison_table_release(struct comparison_table *t)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        struct comparison_row *r = &t->rows[i];
        free(r->name);
        free(r->group);
        free(r->side);
        free(r->a);
        free(r->b);
        free(r->control);
    }
    free(t->rows);
    t->rows = NULL;
    t->n_rows = 0;
}

int comparison_table_judge(struct comparison_table *t)
{
    struct lab_comparison **all = malloc((t->n_rows + 1) * sizeof(all[0]));
    enum lab_better *better = malloc((t->n_rows + 1) * sizeof(better[0]));
    int err = all == NULL || better == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < t->n_rows && err == 0; i++) {
        struct comparison_row *r = &t->rows[i];
        all[i] = &r->comparison;
        better[i] = r->better;
        err = lab_compare(r->a, r->na, r->b, r->nb, &t->rules, &r->comparison);
        if (err == 0 && r->control != NULL)
            err = lab_compare_control(r->a, r->na, r->control, r->na, &t->rules, &r->comparison);
    }
    if (err == 0)
        err = lab_comparisons_judge(all, better, t->n_rows, &t->rules);
    free(all);
    free(better);
    return err;
}

/* Ratios of blocks, by the variant of the program that the block took. */
static int look_at_placement(const struct compare_run *run, struct comparison_row *row)
{
    struct comparison_placement *p = &row->placement;
    double *ratios = malloc((3 * row->na + 1) * sizeof(ratios[0]));
    unsigned *variant = calloc(row->na + 1, sizeof(variant[0]));
    struct lab_test test = {0, 1};
    int err = ratios == NULL || variant == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < run->n_samples && err == 0; i++) {
        if (run->samples[i].block < run->n_blocks && run->samples[i].side < run->config->n_sides)
            variant[run->samples[i].block] = run->samples[i].variant;
    }
    for (size_t i = 0; i < row->na && err == 0; i++)
        ratios[i] = row->a[i] == 0 ? 1 : row->b[i] / row->a[i];
    p->n = (unsigned)run->config->n_variants;
    for (unsigned v = 0; v < p->n && err == 0; v++) {
        size_t n = 0;
        for (size_t i = 0; i < row->na; i++) {
            if (variant[i] == v) {
                ratios[row->na + n] = row->a[i];
                ratios[2 * row->na + n++] = row->b[i];
            }
        }
        const double a = lab_median(ratios + row->na, n);
        p->ratio[v] = n == 0 || a == 0 ? 1 : lab_median(ratios + 2 * row->na, n) / a;
        if (n < LEAST_BLOCKS) /* too few to tell a place from noise */
            p->n = 0;
    }
    if (err == 0 && p->n > 0)
        err = lab_kruskal_wallis(ratios, variant, row->na, p->n, &test);
    p->p = test.p;
    free(ratios);
    free(variant);
    return err;
}

void comparison_row_placement(const struct comparison_row *row, char *text, size_t room)
{
    const struct comparison_placement *p = &row->placement;
    double least = INFINITY;
    double most = -INFINITY;

    text[0] = '\0';
    for (unsigned v = 0; v < p->n; v++) {
        least = fmin(least, p->ratio[v]);
        most = fmax(most, p->ratio[v]);
    }
    if (p->n > 0 && p->p < PLACEMENT_ALPHA && most - least >= LEAST_PLACEMENT)
        snprintf(text, room, "placement: the difference is %+.2g to %+.2g %% in %u places of the same code",
                 100 * (least - 1), 100 * (most - 1), p->n);
}

static double *series(const struct compare_run *run, size_t side, size_t metric)
{
    double *values = malloc((run->n_blocks + 1) * sizeof(values[0]));
    if (values != NULL)
        compare_run_series(run, side, metric, values);
    return values;
}

int comparison_table_add_run(struct comparison_table *t, const struct compare_run *run, bool is_one_of_several)
{
    const struct compare_config *c = run->config;
    const bool has_sides = c->n_sides > 2;
    char group[256];
    int err = 0;

    t->a_label = c->sides[0].label;
    t->rules = c->rules;
    for (size_t side = 1; side < c->n_sides; side++) {
        snprintf(group, sizeof(group), "%s%s%s", is_one_of_several ? c->benchmark : "",
                 is_one_of_several && has_sides ? ", " : "", has_sides ? c->sides[side].label : "");
        for (size_t m = 0; m < c->n_metrics && err == 0; m++) {
            struct comparison_row row = {
                .better = c->metrics[m].better,
                .na = run->n_blocks,
                .nb = run->n_blocks,
                .a = series(run, 0, m),
                .b = series(run, side, m),
                .control = series(run, c->n_sides, m),
            };
            memcpy(row.unit, c->metrics[m].unit, sizeof(row.unit));
            if (row.a == NULL || row.b == NULL || row.control == NULL) {
                free(row.a);
                free(row.b);
                free(row.control);
                return -ENOMEM;
            }
            if (c->n_variants > 1)
                err = look_at_placement(run, &row);
            if (err == 0)
                err = comparison_table_add(t, group, c->metrics[m].name, c->sides[side].label, row);
        }
    }
    return err;
}

void comparison_row_verdict(const struct comparison_table *t, const struct comparison_row *row, char *text,
                            size_t room)
{
    const char *better_word;
    const char *worse_word;

    lab_metric_words(row->unit, row->better, &better_word, &worse_word);
    lab_verdict_words(&row->comparison, better_word, worse_word, &t->rules, text, room);
}
