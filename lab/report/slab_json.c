/* SPDX-License-Identifier: MIT */
/* Owns the JSON form of a run: every raw sample, and what is needed to read and to repeat it.
 *
 * A value that could not be made (out of memory) is left out by jansson; the write then fails as a
 * whole.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "report/slab_json.h"

#include "report/json_parts.h"

#include <jansson.h>
#include <string.h>

static json_t *config(const struct lab_config *c)
{
    json_t *o = json_object();
    json_t *cpus = json_array();
    for (size_t i = 0; i < c->n_cpus; i++)
        json_array_append_new(cpus, parts_number(c->cpus[i]));
    json_object_set_new(o, "api", json_string(c->api == LAB_API_SLUB ? "slub" : "malloc"));
    json_object_set_new(o, "count", parts_number(c->count));
    json_object_set_new(o, "repeats", parts_number(c->n_repeats));
    json_object_set_new(o, "warmup", parts_number(c->n_warmup));
    json_object_set_new(o, "rounds", parts_number(c->n_rounds));
    json_object_set_new(o, "robust", json_boolean(c->robust));
    json_object_set_new(o, "freers", c->n_freers == 0 ? json_null() : parts_number(c->n_freers));
    json_object_set_new(o, "idle_ns", parts_number(c->idle_s * 1000000000u));
    json_object_set_new(o, "seed", parts_number(c->seed));
    json_object_set_new(o, "cpus", cpus);
    return o;
}

static json_t *counters(const struct slab_wire_size *size)
{
    static const char *const names[SLUB_N_STATS] = {
#define X(name, help) #name,
        SLUB_STATS(X)
#undef X
    };
    json_t *o = json_object();
    for (unsigned k = 0; k < SLUB_N_STATS; k++)
        json_object_set_new(o, names[k],
                            size->counter[k] == SLUB_NOT_COUNTED ? json_null()
                                                                 : parts_number(size->counter[k]));
    return o;
}

/* ticks[column][lane][repeat] */
static json_t *samples(const struct lab_result *r, size_t size_index)
{
    const struct slab_wire_head *h = r->head;
    json_t *columns = json_array();
    for (uint32_t column = 0; column < h->n_columns; column++) {
        json_t *lanes = json_array();
        for (uint32_t lane = 0; lane < h->n_lanes; lane++) {
            const uint64_t *ticks = &r->ticks[slab_wire_index(h, size_index, lane, column)];
            json_t *repeats = json_array();
            for (uint32_t i = 0; i < h->n_repeats; i++)
                json_array_append_new(repeats, parts_number(ticks[i]));
            json_array_append_new(lanes, repeats);
        }
        json_array_append_new(columns, lanes);
    }
    return columns;
}

static json_t *column_names(const struct slab_test *test)
{
    return test->n_columns == 2 ? json_pack("[ss]", "alloc", "free") : json_pack("[s]", "pair");
}

static json_t *result(const void *of, size_t i)
{
    const struct slab_view *v = of;
    const struct lab_result *r = &v->run->results[i];
    const struct lab_case *k = &v->run->cases[r->case_index];
    const struct slab_test *test = &slab_tests[k->test];
    const struct slab_wire_head *h = r->head;
    json_t *o = json_object();
    json_t *sizes = json_array();

    for (size_t s = 0; s < k->n_sizes; s++) {
        json_t *size = json_object();
        json_object_set_new(size, "size_bytes", parts_number(k->sizes[s]));
        json_object_set_new(size, "allocs", parts_number(r->sizes[s].n_allocs));
        json_object_set_new(size, "frees", parts_number(r->sizes[s].n_frees));
        json_object_set_new(size, "ticks", samples(r, s));
        json_object_set_new(size, "counters",
                            h->has_counters ? counters(&r->sizes[s]) : json_null());
        json_array_append_new(sizes, size);
    }
    json_object_set_new(o, "test", json_string(test->name));
    json_object_set_new(o, "threads", parts_number(k->n_threads));
    json_object_set_new(o, "allocator",
                        parts_any_text(v->run->config->allocators[r->allocator_index].label));
    json_object_set_new(o, "round", parts_number(r->round));
    json_object_set_new(o, "columns", column_names(test));
    json_object_set_new(o, "ops_per_sample", parts_number(h->ops[0]));
    json_object_set_new(o, "rss_start_bytes", parts_number(h->rss_start_bytes));
    json_object_set_new(o, "rss_end_bytes", parts_number(h->rss_end_bytes));
    json_object_set_new(o, "rss_idle_bytes", parts_number(h->rss_idle_bytes));
    json_object_set_new(o, "rss_peak_bytes", parts_number(h->rss_peak_bytes));
    json_object_set_new(o, "idle_ns", parts_number(h->idle_ns));
    json_object_set_new(o, "sizes", sizes);
    return o;
}

static void set_statistics(json_t *o, const struct lab_summary *s, double factor, const char *unit)
{
    const struct {
        const char *name;
        double value;
    } rows[] = {{"min", s->min}, {"median", s->median}, {"mean", s->mean},    {"p99", s->p99},
                {"max", s->max}, {"mad", s->mad},       {"stddev", s->stddev}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char key[32];
        snprintf(key, sizeof(key), "%s_%s", rows[i].name, unit);
        json_object_set_new(o, key, json_real(rows[i].value * factor));
    }
}

static json_t *summary(const struct slab_view *v, size_t k, size_t a, size_t s, unsigned column)
{
    const struct lab_case *lab_case = &v->run->cases[k];
    const struct slab_test *test = &slab_tests[lab_case->test];
    struct lab_summary sum;
    json_t *o = json_object();

    slab_view_summary(v, k, a, s, -1, column, &sum);
    json_object_set_new(o, "test", json_string(test->name));
    json_object_set_new(o, "threads", parts_number(lab_case->n_threads));
    json_object_set_new(o, "allocator", parts_any_text(v->run->config->allocators[a].label));
    json_object_set_new(o, "size_bytes", parts_number(lab_case->sizes[s]));
    json_object_set_new(o, "op",
                        json_string(test->n_columns == 1 ? "pair"
                                    : column == 0        ? "alloc"
                                                         : "free"));
    json_object_set_new(o, "samples", parts_number(sum.n));
    set_statistics(o, &sum, 1, "ticks");
    set_statistics(o, &sum, v->run->tick_ns, "ns");
    return o;
}

static json_t *skipped(const struct lab_config *c)
{
    json_t *list = json_array();
    for (unsigned t = 0; t < SLAB_N_TESTS; t++) {
        const char *why = c->tests[t] ? lab_run_skips(c, (enum slab_test_id)t) : NULL;
        if (why != NULL)
            json_array_append_new(list,
                                  json_pack("{s:s,s:s}", "test", slab_tests[t].name, "why", why));
    }
    return list;
}

static int write_summaries(const void *of, FILE *out)
{
    const struct slab_view *v = of;
    const struct lab_run *run = v->run;
    size_t n = 0;
    int err = 0;

    for (size_t k = 0; k < run->n_cases; k++) {
        for (size_t a = 0; a < run->config->n_allocators; a++) {
            for (size_t s = 0; s < run->cases[k].n_sizes; s++) {
                for (unsigned c = 0; c < slab_tests[run->cases[k].test].n_columns && err == 0; c++)
                    err = parts_write_element(out, n++, summary(v, k, a, s, c));
            }
        }
    }
    return err;
}

int slab_json_write(const struct slab_view *v, char *const *argv, FILE *out)
{
    const struct lab_run *run = v->run;
    const struct parts_run parts = {
        .benchmark = "slab_test",
        .started_unix_s = run->started_unix_s,
        .machine = &run->machine,
        .tick_ns = run->tick_ns,
        .lab = run->config,
        .config = config(run->config),
        .skipped = skipped(run->config),
        .n_results = run->n_results,
        .result = result,
        .write_summaries = write_summaries,
        .run = v,
    };

    return parts_write_run(&parts, argv, out);
}
