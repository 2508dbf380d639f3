/* SPDX-License-Identifier: MIT */
/* Owns what is printed and stored of a run of whole programs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "report/program_report.h"

#include "report/json_parts.h"
#include "stats/summary.h"

#include <string.h>

static const struct {
    enum program_figure figure;
    const char *name;
    const char *unit;
    const char *heading;
} figures[] = {
    {PROGRAM_WALL, "wall", "ns", "time of the whole, shortest round"},
    {PROGRAM_CPU, "cpu", "ns", "CPU time of all processes, least of the rounds"},
    {PROGRAM_PEAK, "peak", "bytes",
     "most resident memory of the largest process, median of the rounds"},
};

#define N_FIGURES (sizeof(figures) / sizeof(figures[0]))

static void format_value(enum program_figure figure, double v, char *text, size_t room)
{
    if (v == 0)
        snprintf(text, room, "failed");
    else if (figure == PROGRAM_PEAK)
        snprintf(text, room, "%.2f MiB", v / (1 << 20));
    else if (v >= 1e9)
        snprintf(text, room, "%.2f s", v / 1e9);
    else
        snprintf(text, room, "%.2f ms", v / 1e6);
}

static bool is_shown(const struct program_run *run, size_t program)
{
    return run->config->chosen[program] && run->skipped[program][0] == '\0';
}

/* Against the first allocator; 0 when one of them has no value. */
static double ratio(const struct program_run *run, size_t program, size_t allocator,
                    enum program_figure figure)
{
    const double base = program_run_value(run, program, 0, figure);
    return base == 0 ? 0 : program_run_value(run, program, allocator, figure) / base;
}

static void print_ratio(double v, FILE *out)
{
    if (v == 0)
        fprintf(out, " %5s", "-");
    else
        fprintf(out, " %5.2f", v);
}

static void print_medians(const struct program_run *run, enum program_figure figure, FILE *out)
{
    fprintf(out, "%-16s", "median");
    for (size_t i = 0; i < run->config->lab.n_allocators; i++) {
        double values[PROGRAM_MOST];
        size_t n = 0;
        for (size_t p = 0; p < n_programs; p++) {
            const double v = is_shown(run, p) ? ratio(run, p, i, figure) : 0;
            if (v != 0)
                values[n++] = v;
        }
        fprintf(out, " %12s", "");
        print_ratio(lab_median(values, n), out);
    }
    fprintf(out, "\n");
}

static void print_table(const struct program_run *run, size_t which, FILE *out)
{
    const struct lab_config *c = &run->config->lab;

    fprintf(out, "\n%s; beside it, as a ratio to %s\n%-16s", figures[which].heading,
            c->allocators[0].label, "program");
    for (size_t i = 0; i < c->n_allocators; i++)
        fprintf(out, " %18s", c->allocators[i].label);
    fprintf(out, "\n");
    for (size_t p = 0; p < n_programs; p++) {
        if (!is_shown(run, p))
            continue;
        fprintf(out, "%-16s", programs[p].name);
        for (size_t i = 0; i < c->n_allocators; i++) {
            char value[32];
            format_value(figures[which].figure, program_run_value(run, p, i, figures[which].figure),
                         value, sizeof(value));
            fprintf(out, " %12s", value);
            print_ratio(ratio(run, p, i, figures[which].figure), out);
        }
        fprintf(out, "\n");
    }
    print_medians(run, figures[which].figure, out);
}

void program_print(const struct program_run *run, FILE *out)
{
    const struct lab_config *c = &run->config->lab;
    const struct lab_machine *m = &run->machine;

    fprintf(out, "whole programs, %s form, %llu round(s), %s, %s, %s\n",
            run->config->is_short ? "short" : "full", (unsigned long long)c->n_rounds, m->cpu_model,
            m->kernel, m->libc);
    for (size_t i = 0; i < c->n_allocators; i++)
        fprintf(out, "%s: %s %s\n", c->allocators[i].label, c->allocators[i].owner,
                c->allocators[i].version);
    for (size_t i = 0; i < N_FIGURES; i++)
        print_table(run, i, out);
    for (size_t p = 0; p < n_programs; p++) {
        if (run->skipped[p][0] != '\0')
            fprintf(out, "%s skipped: %s\n", programs[p].name, run->skipped[p]);
    }
    for (size_t i = 0; i < run->n_results; i++) {
        const struct program_result *r = &run->results[i];
        if (r->failure[0] != '\0')
            fprintf(out, "%s failed with %s: %s\n", programs[r->program_index].name,
                    c->allocators[r->allocator_index].label, r->failure);
    }
}

static json_t *skipped(const struct program_run *run)
{
    json_t *list = json_array();
    for (size_t p = 0; p < n_programs; p++) {
        if (run->skipped[p][0] != '\0')
            json_array_append_new(list, json_pack("{s:s,s:o}", "program", programs[p].name, "why",
                                                  parts_any_text(run->skipped[p])));
    }
    return list;
}

static json_t *number_or_null(const struct program_result *r, uint64_t v)
{
    return r->failure[0] == '\0' ? parts_number(v) : json_null();
}

static json_t *result(const void *of, size_t i)
{
    const struct program_run *run = of;
    const struct program_result *r = &run->results[i];
    return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "program",
                     programs[r->program_index].name, "allocator",
                     parts_any_text(run->config->lab.allocators[r->allocator_index].label), "round",
                     parts_number(r->round), "failure",
                     r->failure[0] == '\0' ? json_null() : parts_any_text(r->failure), "wall_ns",
                     number_or_null(r, r->wall_ns), "cpu_ns", number_or_null(r, r->cpu_ns),
                     "peak_bytes", number_or_null(r, r->peak_bytes), "peak_program",
                     parts_text_or_null(r->peak_program), "processes",
                     number_or_null(r, r->n_measured));
}

static json_t *summary(const struct program_run *run, size_t program, size_t which,
                       size_t allocator)
{
    const double v = program_run_value(run, program, allocator, figures[which].figure);
    const double r = ratio(run, program, allocator, figures[which].figure);
    return json_pack("{s:s,s:s,s:s,s:o,s:o,s:o}", "program", programs[program].name, "figure",
                     figures[which].name, "unit", figures[which].unit, "allocator",
                     parts_any_text(run->config->lab.allocators[allocator].label), "value",
                     v == 0 ? json_null() : json_real(v), "ratio",
                     r == 0 ? json_null() : json_real(r));
}

static int write_summaries(const void *of, FILE *out)
{
    const struct program_run *run = of;
    size_t n = 0;
    int err = 0;

    for (size_t p = 0; p < n_programs; p++) {
        for (size_t k = 0; k < N_FIGURES && is_shown(run, p); k++) {
            for (size_t a = 0; a < run->config->lab.n_allocators && err == 0; a++)
                err = parts_write_element(out, n++, summary(run, p, k, a));
        }
    }
    return err;
}

int program_json_write(const struct program_run *run, char *const *argv, FILE *out)
{
    const struct program_config *c = run->config;
    const struct parts_run parts = {
        .benchmark = "programs",
        .started_unix_s = run->started_unix_s,
        .machine = &run->machine,
        .tick_ns = run->tick_ns,
        .lab = &c->lab,
        .config = parts_list_config(&c->lab, c->is_short),
        .skipped = skipped(run),
        .n_results = run->n_results,
        .result = result,
        .write_summaries = write_summaries,
        .run = run,
    };

    return parts_write_run(&parts, argv, out);
}
