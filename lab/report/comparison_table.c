/* SPDX-License-Identifier: MIT */
/* Owns the rows of a table of comparisons. */
#include "report/comparison_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int comparison_table_add(struct comparison_table *t, const char *group, const char *name, struct comparison_row row)
{
    struct comparison_row *more = realloc(t->rows, (t->n_rows + 1) * sizeof(*more));

    if (more != NULL)
        t->rows = more;
    row.name = strdup(name);
    row.group = strdup(group);
    if (more == NULL || row.name == NULL || row.group == NULL) {
        free(row.name);
        free(row.group);
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

static double *series(const struct compare_run *run, size_t side, size_t metric)
{
    double *values = malloc((run->n_blocks + 1) * sizeof(values[0]));
    if (values != NULL)
        compare_run_series(run, side, metric, values);
    return values;
}

int comparison_table_of_run(struct comparison_table *t, const struct compare_run *run)
{
    const struct compare_config *c = run->config;
    int err = 0;

    *t = (struct comparison_table){
        .a_label = c->sides[0].label,
        .b_label = c->n_sides > 2 ? NULL : c->sides[1].label,
        .rules = c->rules,
    };
    for (size_t side = 1; side < c->n_sides; side++) {
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
            err = comparison_table_add(t, c->n_sides > 2 ? c->sides[side].label : "", c->metrics[m].name, row);
        }
    }
    return err != 0 ? err : comparison_table_judge(t);
}

void comparison_row_verdict(const struct comparison_table *t, const struct comparison_row *row, char *text,
                            size_t room)
{
    const char *better_word;
    const char *worse_word;

    lab_metric_words(row->unit, row->better, &better_word, &worse_word);
    lab_verdict_words(&row->comparison, better_word, worse_word, &t->rules, text, room);
}
