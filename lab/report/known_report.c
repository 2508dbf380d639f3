/* SPDX-License-Identifier: MIT */
/* Owns what is printed and stored of a run of the known failures. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "report/known_report.h"

#include "report/json_parts.h"

#include <string.h>

static const char *const rule_names[] = {"at most", "at least", "at most " KNOWN_PEER "'s"};
static const char *const verdict_names[] = {"pass", "FAIL", "-"};

static void format_value(enum known_unit unit, uint64_t v, char *text, size_t room)
{
    if (unit == KNOWN_BYTES)
        snprintf(text, room, "%.2f MiB", (double)v / (1 << 20));
    else if (unit == KNOWN_NS && v >= 1000000000)
        snprintf(text, room, "%.2f s", (double)v / 1e9);
    else if (unit == KNOWN_NS)
        snprintf(text, room, "%.2f ms", (double)v / 1e6);
    else if (unit == KNOWN_PER_MILLE)
        snprintf(text, room, "%.1f %%", (double)v / 10);
    else
        snprintf(text, room, "%llu", (unsigned long long)v);
}

static void format_limit(const struct known_figure *f, char *text, size_t room)
{
    char value[32];

    format_value(f->unit, f->limit, value, sizeof(value));
    if (f->rule == KNOWN_AT_MOST_PEER)
        snprintf(text, room, "<= %s", KNOWN_PEER);
    else
        snprintf(text, room, "%s %s", f->rule == KNOWN_AT_LEAST ? ">=" : "<=", value);
}

static void print_row(const struct known_run *run, enum known_case_id id, size_t figure, FILE *out)
{
    const struct lab_config *c = &run->config->lab;
    const struct known_case *k = known_case(id);
    const struct known_figure *f = &k->figures[figure];
    char limit[48];

    format_limit(f, limit, sizeof(limit));
    fprintf(out, "%-15s %-24s %14s", figure == 0 ? k->name : "", f->name, limit);
    for (size_t i = 0; i < c->n_allocators; i++) {
        uint64_t v = 0;
        const char *failure;
        char value[48] = "none";
        if (known_run_value(run, id, figure, i, &v, &failure))
            format_value(f->unit, v, value, sizeof(value));
        fprintf(out, " %12s %-4s", value, verdict_names[known_run_judge(run, id, figure, i)]);
    }
    fprintf(out, "\n");
}

static void print_failures(const struct known_run *run, FILE *out)
{
    for (size_t i = 0; i < run->n_results; i++) {
        const struct known_result *r = &run->results[i];
        if (r->failure[0] != '\0')
            fprintf(out, "%s, %s: %s\n", known_case(r->id)->name,
                    run->config->lab.allocators[r->allocator_index].label, r->failure);
    }
}

void known_print(const struct known_run *run, FILE *out)
{
    const struct lab_config *c = &run->config->lab;
    const struct lab_machine *m = &run->machine;

    fprintf(out, "known failures of allocators, %s form, %llu round(s), %s, %s, %s\n",
            run->config->is_short ? "short" : "full", (unsigned long long)c->n_rounds, m->cpu_model,
            m->kernel, m->libc);
    for (size_t i = 0; i < c->n_allocators; i++)
        fprintf(out, "%s: %s %s%s\n", c->allocators[i].label, c->allocators[i].owner,
                c->allocators[i].version,
                known_run_counts(run, i) ? "" : " (shown beside; limits do not count)");
    fprintf(out, "\n%-15s %-24s %14s", "case", "figure", "limit");
    for (size_t i = 0; i < c->n_allocators; i++)
        fprintf(out, " %12s     ", c->allocators[i].label);
    fprintf(out, "\n");
    for (unsigned id = 0; id < KNOWN_N_CASES; id++) {
        const char *why = known_run_skips((enum known_case_id)id);
        if (!run->config->cases[id])
            continue;
        for (size_t k = 0; why == NULL && k < known_case((enum known_case_id)id)->n_figures; k++)
            print_row(run, (enum known_case_id)id, k, out);
        if (why != NULL)
            fprintf(out, "%-15s skipped: %s\n", known_case((enum known_case_id)id)->name, why);
    }
    print_failures(run, out);
}

static json_t *skipped(const struct known_config *c)
{
    json_t *list = json_array();
    for (unsigned id = 0; id < KNOWN_N_CASES; id++) {
        const char *why = c->cases[id] ? known_run_skips((enum known_case_id)id) : NULL;
        if (why != NULL)
            json_array_append_new(list,
                                  json_pack("{s:s,s:s}", "case",
                                            known_case((enum known_case_id)id)->name, "why", why));
    }
    return list;
}

static json_t *result(const void *of, size_t i)
{
    const struct known_run *run = of;
    const struct known_result *r = &run->results[i];
    json_t *figures = json_array();
    for (size_t k = 0; r->failure[0] == '\0' && k < known_case(r->id)->n_figures; k++)
        json_array_append_new(figures, parts_number(r->figures[k]));
    return json_pack("{s:s,s:o,s:o,s:o,s:o}", "case", known_case(r->id)->name, "allocator",
                     parts_any_text(run->config->lab.allocators[r->allocator_index].label), "round",
                     parts_number(r->round), "failure", parts_text_or_null(r->failure), "figures",
                     figures);
}

static json_t *summary(const struct known_run *run, enum known_case_id id, size_t figure,
                       size_t allocator)
{
    const struct known_case *k = known_case(id);
    const struct known_figure *f = &k->figures[figure];
    const enum known_verdict verdict = known_run_judge(run, id, figure, allocator);
    uint64_t v = 0;
    const char *failure;
    json_t *value =
        known_run_value(run, id, figure, allocator, &v, &failure) ? parts_number(v) : json_null();

    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:b}", "case", k->name, "figure", f->name,
                     "unit", known_unit_name(f->unit), "rule", rule_names[f->rule], "limit",
                     f->rule == KNOWN_AT_MOST_PEER ? json_null() : parts_number(f->limit),
                     "allocator", parts_any_text(run->config->lab.allocators[allocator].label),
                     "value", value, "passes",
                     verdict == KNOWN_NOT_JUDGED ? json_null()
                                                 : json_boolean(verdict == KNOWN_PASSES),
                     "counts", known_run_counts(run, allocator) ? 1 : 0);
}

static int write_summaries(const void *of, FILE *out)
{
    const struct known_run *run = of;
    size_t n = 0;
    int err = 0;

    for (unsigned id = 0; id < KNOWN_N_CASES; id++) {
        if (!run->config->cases[id] || known_run_skips((enum known_case_id)id) != NULL)
            continue;
        for (size_t k = 0; k < known_case((enum known_case_id)id)->n_figures; k++) {
            for (size_t a = 0; a < run->config->lab.n_allocators && err == 0; a++)
                err = parts_write_element(out, n++, summary(run, (enum known_case_id)id, k, a));
        }
    }
    return err;
}

int known_json_write(const struct known_run *run, char *const *argv, FILE *out)
{
    const struct known_config *c = run->config;
    const struct parts_run parts = {
        .benchmark = "known_failures",
        .started_unix_s = run->started_unix_s,
        .machine = &run->machine,
        .tick_ns = run->tick_ns,
        .lab = &c->lab,
        .config = parts_list_config(&c->lab, c->is_short),
        .skipped = skipped(c),
        .n_results = run->n_results,
        .result = result,
        .write_summaries = write_summaries,
        .run = run,
    };

    return parts_write_run(&parts, argv, out);
}
