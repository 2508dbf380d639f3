/* SPDX-License-Identifier: MIT */
/* Owns what is stored of a comparison. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "report/comparison_json.h"

#include "report/json_parts.h"

#include <errno.h>
#include <math.h>

static const char *const verdicts[] = {
    [LAB_VERDICT_BETTER] = "better", [LAB_VERDICT_WORSE] = "worse",         [LAB_VERDICT_SAME] = "same",
    [LAB_VERDICT_OPEN] = "open",     [LAB_VERDICT_UNTRUSTED] = "untrusted",
};
static const char *const ends[] = {
    [COMPARE_NARROW] = "narrow",
    [COMPARE_RUNS] = "runs",
    [COMPARE_BUDGET] = "time",
    [COMPARE_INTERRUPTED] = "interrupted",
};

static json_t *real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *metrics_of(const struct compare_config *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_metrics; i++)
        json_array_append_new(list, json_pack("{s:o,s:o,s:s,s:o}", "name", parts_any_text(c->metrics[i].name), "unit",
                                              parts_any_text(c->metrics[i].unit), "better",
                                              c->metrics[i].better == LAB_LESS_IS_BETTER ? "less" : "more", "pattern",
                                              c->metrics[i].pattern != NULL ? parts_any_text(c->metrics[i].pattern)
                                                                            : json_null()));
    return list;
}

static json_t *sides_of(const struct compare_config *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_sides; i++) {
        const struct compare_side *s = &c->sides[i];
        json_t *words = json_array();
        for (size_t k = 0; s->argv[k] != NULL; k++)
            json_array_append_new(words, parts_any_text(s->argv[k]));
        json_array_append_new(list, json_pack("{s:o,s:o,s:o}", "label", parts_any_text(s->label), "allocator",
                                              s->allocator != NULL ? parts_any_text(s->allocator->label) : json_null(),
                                              "argv", words));
    }
    return list;
}

static json_t *config_of(const struct compare_run *run)
{
    const struct compare_config *c = run->config;
    return json_pack(
        "{s:o,s:o,s:o,s:f,s:f,s:b,s:o,s:o,s:b,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o}", "of",
        parts_any_text(c->benchmark), "sides", sides_of(c), "metrics", metrics_of(c), "alpha", c->rules.alpha,
        "threshold", c->rules.threshold, "paired", c->rules.is_paired ? 1 : 0, "most_runs", parts_number(c->most_runs),
        "budget_s", parts_number(c->budget_s), "fixed", c->is_fixed ? 1 : 0, "timeout_s",
        parts_number(c->lab.timeout_s), "seed", parts_number(c->lab.seed), "cpus",
        c->cpus != NULL ? parts_any_text(c->cpus) : json_null(), "ended_by", ends[run->end], "pilot_noise",
        real(run->pilot_noise), "detectable", real(run->detectable), "blocks", parts_number(run->n_blocks), "processes",
        parts_number(run->n_processes), "other_malloc", parts_number(run->n_strangers));
}

static json_t *sample(const struct compare_run *run, size_t i)
{
    const struct compare_config *c = run->config;
    const struct compare_sample *s = &run->samples[i];
    const struct start_report *r = &s->report;
    json_t *values = json_object();

    for (size_t m = 0; m < c->n_metrics; m++)
        json_object_set_new(values, c->metrics[m].name, real(s->values[m]));
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "of", parts_any_text(c->benchmark),
        "block", parts_number(s->block), "side",
        s->side < c->n_sides    ? parts_any_text(c->sides[s->side].label)
        : s->side == c->n_sides ? json_string("(control)")
                                : json_string("(pilot)"),
        "place", parts_number(s->place), "variant", c->n_variants > 0 ? parts_number(s->variant) : json_null(),
        "started_ms", parts_number(s->started_ms), "environment_pad", parts_number(s->environment_pad), "path_pad",
        parts_number(s->path_pad), "wall_ns", parts_number(r->wall_ns), "user_ns", parts_number(r->user_ns),
        "system_ns", parts_number(r->system_ns), "peak_bytes", parts_number(r->peak_bytes), "minor_faults",
        parts_number(r->minor_faults), "major_faults", parts_number(r->major_faults), "switches",
        parts_number(r->voluntary_switches + r->forced_switches), "values", values);
}

static json_t *summary_of(const struct lab_summary *s)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "count", parts_number(s->n), "min", real(s->min), "max",
                     real(s->max), "mean", real(s->mean), "median", real(s->median), "stddev", real(s->stddev), "mad",
                     real(s->mad), "spread_percent", real(lab_summary_spread_percent(s)));
}

static json_t *shape_of(const struct lab_drift *d, const struct lab_modes *m)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "drift", real(d->relative_change), "drift_p", real(d->p), "dip", real(m->dip),
                     "dip_p", real(m->p));
}

json_t *comparison_json_row(const struct comparison_table *t, const struct comparison_row *row)
{
    const struct lab_comparison *c = &row->comparison;
    char words[160], warnings[320];

    comparison_row_verdict(t, row, words, sizeof(words));
    lab_comparison_warnings(c, warnings, sizeof(warnings));
    json_t *o = json_pack(
        "{s:o,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:s,s:o}", "group",
        parts_any_text(row->group), "side", parts_any_text(row->side), "name", parts_any_text(row->name), "unit",
        parts_any_text(row->unit), "better",
        row->better == LAB_LESS_IS_BETTER ? "less" : "more", "a", summary_of(&c->a), "b", summary_of(&c->b), "a_shape",
        shape_of(&c->drift_a, &c->modes_a), "b_shape", shape_of(&c->drift_b, &c->modes_b), "ratio", real(c->ratio),
        "low", real(c->interval.low), "high", real(c->interval.high), "p", real(c->test.p), "p_corrected",
        real(c->p_holm), "p_ranks", real(c->rank_test.p), "p_means", real(c->mean_test.p), "cliff_delta",
        real(c->cliff_delta), "hedges_g", real(c->hedges_g), "runs_needed", parts_number(c->runs_needed), "verdict",
        verdicts[c->verdict], "words", words, "notes", parts_text_or_null(warnings));
    if (o != NULL && c->has_control) {
        json_object_set_new(o, "control_ratio", real(c->control_ratio));
        json_object_set_new(o, "control_p", real(c->control_test.p));
    }
    if (o != NULL && row->placement.n > 0) {
        json_t *ratios = json_array();
        for (unsigned v = 0; v < row->placement.n; v++)
            json_array_append_new(ratios, real(row->placement.ratio[v]));
        json_object_set_new(o, "variant_ratios", ratios);
        json_object_set_new(o, "placement_p", real(row->placement.p));
    }
    return o;
}

struct written {
    const struct compare_run *runs;
    size_t n_runs;
    const struct comparison_table *table;
};

static json_t *result(const void *of, size_t i)
{
    const struct written *w = of;
    size_t k = 0;
    while (i >= w->runs[k].n_samples)
        i -= w->runs[k++].n_samples;
    return sample(&w->runs[k], i);
}

static int write_rows(const void *of, FILE *out)
{
    const struct written *w = of;
    int err = 0;
    for (size_t i = 0; i < w->table->n_rows && err == 0; i++)
        err = parts_write_element(out, i, comparison_json_row(w->table, &w->table->rows[i]));
    return err;
}

int comparison_json_write(const struct compare_run *runs, size_t n_runs, const struct comparison_table *t,
                          json_t *skipped, char *const *argv, bool is_bench, FILE *out)
{
    const struct written w = {runs, n_runs, t};
    json_t *configs = json_array();
    size_t n_samples = 0;

    for (size_t i = 0; i < n_runs; i++) {
        json_array_append_new(configs, config_of(&runs[i]));
        n_samples += runs[i].n_samples;
    }
    const struct parts_run parts = {
        .benchmark = "compare",
        .is_whole_command = !is_bench,
        .started_unix_s = runs[0].started_unix_s,
        .machine = &runs[0].machine,
        .tick_ns = runs[0].tick_ns,
        .lab = &runs[0].config->lab,
        .config = json_pack("{s:o}", "runs", configs),
        .skipped = skipped,
        .n_results = n_samples,
        .result = result,
        .write_summaries = write_rows,
        .run = &w,
    };

    return parts_write_run(&parts, argv, out);
}
