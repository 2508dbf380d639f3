/* SPDX-License-Identifier: MIT */
/* Owns the reading of stored results: schema "slub-bench/1", see lab/SCHEMA.md.
 *
 * Values of one process depend on each other (its place in memory is drawn once), so that a process gives one value:
 * for slab_test the median of its repeats. Many repeats in one process are no many samples.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "report/stored.h"

#include "stats/summary.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "slub-bench/1"

static const char *text_of(const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));
    return text != NULL ? text : "";
}

static struct stored_series *add_series(struct stored *s, const char *group, const char *name, const char *side)
{
    for (size_t i = 0; i < s->n_series; i++) {
        struct stored_series *k = &s->series[i];
        if (strcmp(k->group, group) == 0 && strcmp(k->name, name) == 0 && strcmp(k->side, side) == 0)
            return k;
    }
    struct stored_series *more = realloc(s->series, (s->n_series + 1) * sizeof(*more));
    if (more == NULL)
        return NULL;
    s->series = more;
    struct stored_series *k = &s->series[s->n_series++];
    memset(k, 0, sizeof(*k));
    k->group = strdup(group);
    k->name = strdup(name);
    k->side = strdup(side);
    return k->group != NULL && k->name != NULL && k->side != NULL ? k : NULL;
}

static int add_value(struct stored_series *k, double value)
{
    double *more = k == NULL ? NULL : realloc(k->values, (k->n + 1) * sizeof(*more));
    if (more == NULL)
        return -1;
    k->values = more;
    k->values[k->n++] = value;
    return 0;
}

/* ---- compare, and the workloads ------------------------------------------------------------------ */

/* One run of a file: what was compared, and the samples of it. */
static int read_run(struct stored *s, const json_t *root, const json_t *run)
{
    const json_t *metrics = json_object_get(run, "metrics");
    const size_t n_blocks = (size_t)json_integer_value(json_object_get(run, "blocks"));
    const char *of = text_of(run, "of");
    size_t i, m;
    json_t *sample, *metric;

    json_array_foreach(json_object_get(root, "results"), i, sample) {
        const char *side = text_of(sample, "side");
        if (side[0] == '(' || strcmp(text_of(sample, "of"), of) != 0 ||
            (size_t)json_integer_value(json_object_get(sample, "block")) >= n_blocks)
            continue;
        json_array_foreach(metrics, m, metric) {
            const json_t *value = json_object_get(json_object_get(sample, "values"), text_of(metric, "name"));
            struct stored_series *k = add_series(s, of, text_of(metric, "name"), side);
            if (!json_is_number(value))
                continue;
            if (add_value(k, json_number_value(value)) != 0)
                return -1;
            k->better = strcmp(text_of(metric, "better"), "more") == 0 ? LAB_MORE_IS_BETTER : LAB_LESS_IS_BETTER;
            snprintf(k->unit, sizeof(k->unit), "%s", text_of(metric, "unit"));
        }
    }
    return 0;
}

static int read_compare(struct stored *s, const json_t *root)
{
    size_t i;
    json_t *run;

    json_array_foreach(json_object_get(json_object_get(root, "config"), "runs"), i, run) {
        if (read_run(s, root, run) != 0)
            return -1;
    }
    return 0;
}

/* ---- slab_test --------------------------------------------------------------------------------------- */

/* Median over the repeats of the mean over the lanes, per operation. -1: out of memory, or nothing there. */
static double column_median(const json_t *lanes, double ops)
{
    const size_t n_lanes = json_array_size(lanes);
    const size_t n = json_array_size(json_array_get(lanes, 0));
    double *values = malloc((n + 1) * sizeof(values[0]));
    double median = -1;

    for (size_t r = 0; values != NULL && r < n; r++) {
        values[r] = 0;
        for (size_t l = 0; l < n_lanes; l++)
            values[r] += json_number_value(json_array_get(json_array_get(lanes, l), r)) / ops / (double)n_lanes;
    }
    if (values != NULL && n > 0)
        median = lab_median(values, n);
    free(values);
    return median;
}

static int read_slab_size(struct stored *s, const json_t *result, const json_t *size)
{
    const json_t *columns = json_object_get(result, "columns");
    const double ops = json_number_value(json_object_get(result, "ops_per_sample"));
    const json_int_t bytes = json_integer_value(json_object_get(size, "size_bytes"));
    char group[128], name[64];
    size_t c;
    json_t *column;

    snprintf(group, sizeof(group), "slab_test %.60s, %lld thread(s)", text_of(result, "test"),
             (long long)json_integer_value(json_object_get(result, "threads")));
    json_array_foreach(columns, c, column) {
        const char *op = json_string_value(column);
        const double v = column_median(json_array_get(json_object_get(size, "ticks"), c), ops > 0 ? ops : 1);
        if (op == NULL || v < 0)
            return -1;
        snprintf(name, sizeof(name), "%lld %s", (long long)bytes, op);
        struct stored_series *k = add_series(s, group, name, text_of(result, "allocator"));
        if (add_value(k, v) != 0)
            return -1;
        snprintf(k->unit, sizeof(k->unit), "cycles");
        snprintf(k->op, sizeof(k->op), "%s", op);
        k->size_bytes = (size_t)bytes;
    }
    return 0;
}

static int read_slab_test(struct stored *s, const json_t *root)
{
    size_t i, k;
    json_t *result, *size;

    json_array_foreach(json_object_get(root, "results"), i, result) {
        json_array_foreach(json_object_get(result, "sizes"), k, size) {
            if (read_slab_size(s, result, size) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- programs ------------------------------------------------------------------------------------------ */

static int read_programs(struct stored *s, const json_t *root)
{
    static const struct {
        const char *member, *name, *unit;
    } figures[] = {{"wall_ns", "time", "ns"}, {"cpu_ns", "cpu", "ns"}, {"peak_bytes", "rss", "bytes"}};
    const json_int_t rounds = json_integer_value(json_object_get(json_object_get(root, "config"), "rounds"));
    size_t i;
    json_t *result;

    json_array_foreach(json_object_get(root, "results"), i, result) {
        /* Round 0 is looked into while it runs; its times count only when there is no other. */
        if (rounds > 1 && json_integer_value(json_object_get(result, "round")) == 0)
            continue;
        for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++) {
            const json_t *value = json_object_get(result, figures[f].member);
            char name[96];
            if (!json_is_number(value))
                continue;
            snprintf(name, sizeof(name), "%.60s %s", text_of(result, "program"), figures[f].name);
            struct stored_series *k = add_series(s, "programs", name, text_of(result, "allocator"));
            if (add_value(k, json_number_value(value)) != 0)
                return -1;
            snprintf(k->unit, sizeof(k->unit), "%s", figures[f].unit);
        }
    }
    return 0;
}

/* ---- a file ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *benchmark;
    int (*read)(struct stored *s, const json_t *root);
} readers[] = {{"compare", read_compare}, {"slab_test", read_slab_test}, {"programs", read_programs}};

__attribute__((format(printf, 3, 4))) static int fail(char *why, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, room, format, args);
    va_end(args);
    return -1;
}

static int read_root(struct stored *s, const json_t *root, const char *path, char *why, size_t room)
{
    const json_t *machine = json_object_get(root, "machine");

    if (strcmp(text_of(root, "schema"), SCHEMA) != 0)
        return fail(why, room, "'%s' is not of schema %s, which slub bench and slub compare write with --json", path,
                    SCHEMA);
    s->cpu = strdup(text_of(machine, "cpu"));
    s->kernel = strdup(text_of(machine, "kernel"));
    s->version = strdup(text_of(root, "slub_version"));
    s->tick_ns = json_number_value(json_object_get(machine, "tick_ns"));
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        if (strcmp(readers[i].benchmark, text_of(root, "benchmark")) != 0)
            continue;
        if (readers[i].read(s, root) != 0)
            return fail(why, room, "cannot read the results of '%s'", path);
        return s->n_series > 0 ? 0 : fail(why, room, "'%s' holds no results", path);
    }
    return fail(why, room, "'%s' holds results of %s, whose figures are limits, not samples", path,
                text_of(root, "benchmark"));
}

int stored_read(struct stored *s, const char *path, char *why, size_t room)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);

    memset(s, 0, sizeof(*s));
    if (root == NULL)
        return fail(why, room, "cannot read '%s': %s", path, error.text);
    const int err = read_root(s, root, path, why, room);
    json_decref(root);
    if (err != 0)
        stored_release(s);
    return err;
}

void stored_release(struct stored *s)
{
    for (size_t i = 0; i < s->n_series; i++) {
        free(s->series[i].group);
        free(s->series[i].name);
        free(s->series[i].side);
        free(s->series[i].values);
    }
    free(s->series);
    free(s->cpu);
    free(s->kernel);
    free(s->version);
    memset(s, 0, sizeof(*s));
}

/* ---- two files ------------------------------------------------------------------------------------------- */

static size_t count_sides(const struct stored *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_series; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && strcmp(s->series[k].side, s->series[i].side) != 0;
        n += is_new ? 1 : 0;
    }
    return n;
}

static const struct stored_series *find_like(const struct stored *s, const struct stored_series *like, bool any_side)
{
    for (size_t i = 0; i < s->n_series; i++) {
        const struct stored_series *k = &s->series[i];
        if (strcmp(k->group, like->group) == 0 && strcmp(k->name, like->name) == 0 &&
            strcmp(k->unit, like->unit) == 0 && (any_side || strcmp(k->side, like->side) == 0))
            return k;
    }
    return NULL;
}

static double *scaled(const struct stored_series *k, double factor)
{
    double *values = malloc((k->n + 1) * sizeof(values[0]));
    for (size_t i = 0; values != NULL && i < k->n; i++)
        values[i] = k->values[i] * factor;
    return values;
}

int stored_compare(const struct stored *before, const struct stored *after, struct comparison_table *t, char *why,
                   size_t room)
{
    const bool any_side = count_sides(before) == 1 && count_sides(after) == 1;
    /* Ticks of two clocks are no common measure; nanoseconds are. */
    const bool same_ticks = before->tick_ns > 0 && fabs(after->tick_ns / before->tick_ns - 1) < 0.01;

    for (size_t i = 0; i < before->n_series; i++) {
        const struct stored_series *a = &before->series[i];
        const struct stored_series *b = find_like(after, a, any_side);
        char group[256];
        if (b == NULL)
            continue;
        const bool in_ns = strcmp(a->unit, "cycles") == 0 && !same_ticks;
        struct comparison_row row = {.better = a->better, .size_bytes = a->size_bytes, .na = a->n, .nb = b->n};
        memcpy(row.op, a->op, sizeof(row.op));
        snprintf(row.unit, sizeof(row.unit), "%s", in_ns ? "ns" : a->unit);
        row.a = scaled(a, in_ns ? before->tick_ns : 1);
        row.b = scaled(b, in_ns ? after->tick_ns : 1);
        snprintf(group, sizeof(group), "%s%s%s", a->group, any_side ? "" : ", ", any_side ? "" : a->side);
        if (row.a == NULL || row.b == NULL) {
            free(row.a);
            free(row.b);
            return fail(why, room, "out of memory");
        }
        if (comparison_table_add(t, group, a->name, "after", row) != 0)
            return fail(why, room, "out of memory");
    }
    if (t->n_rows == 0)
        return fail(why, room, "the two files have no result in common");
    return comparison_table_judge(t) == 0 ? 0 : fail(why, room, "out of memory");
}
