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

#include "workloads/ticks.h"

#include <errno.h>
#include <jansson.h>
#include <slub/version.h>
#include <string.h>

#define FORMAT (JSON_COMPACT | JSON_REAL_PRECISION(10) | JSON_ENCODE_ANY)

extern char **environ;

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static json_t *text_or_null(const char *s)
{
    return s == NULL || s[0] == '\0' ? json_null() : json_string(s);
}

/* A word of the command line need not be valid UTF-8. */
static json_t *any_text(const char *s)
{
    json_t *text = json_string(s);
    return text != NULL ? text : json_string("(not UTF-8)");
}

static json_t *command_line(char *const *argv)
{
    json_t *list = json_pack("[ss]", "slub", "bench");
    for (size_t i = 0; argv[i] != NULL; i++)
        json_array_append_new(list, any_text(argv[i]));
    return list;
}

/* Variables that change an allocator or the loader; no others, an environment is private. */
static json_t *environment(void)
{
    static const char *const prefixes[] = {
        "SLUB_",  "MALLOC_",         "MIMALLOC_",   "TCMALLOC_",        "JEMALLOC_",
        "SCUDO_", "GLIBC_TUNABLES=", "LD_PRELOAD=", "LD_LIBRARY_PATH=", "LD_BIND_NOW="};
    json_t *object = json_object();
    for (size_t i = 0; environ[i] != NULL; i++) {
        const char *equals = strchr(environ[i], '=');
        for (size_t p = 0; equals != NULL && p < sizeof(prefixes) / sizeof(prefixes[0]); p++) {
            if (strncmp(environ[i], prefixes[p], strlen(prefixes[p])) == 0) {
                char name[128];
                snprintf(name, sizeof(name), "%.*s", (int)(equals - environ[i]), environ[i]);
                json_object_set_new(object, name, any_text(equals + 1));
            }
        }
    }
    return object;
}

static json_t *machine(const struct lab_run *run)
{
    const struct lab_machine *m = &run->machine;
    json_t *o = json_object();
    json_object_set_new(o, "cpu", any_text(m->cpu_model));
    json_object_set_new(o, "cpus", number(m->n_cpus));
    json_object_set_new(o, "nodes", number(m->n_nodes));
    json_object_set_new(o, "guest", json_boolean(m->is_guest));
    json_object_set_new(o, "kernel", any_text(m->kernel));
    json_object_set_new(o, "libc", any_text(m->libc));
    json_object_set_new(o, "compiler", any_text(m->compiler));
    json_object_set_new(o, "thp", text_or_null(m->thp));
    json_object_set_new(o, "governor", text_or_null(m->governor));
    json_object_set_new(o, "memory_bytes", number(m->memory_bytes));
    json_object_set_new(o, "page_bytes", number(m->page_bytes));
    json_object_set_new(o, "tick_source", json_string(TICKS_NAME));
    json_object_set_new(o, "tick_constant", json_boolean(m->has_constant_clock));
    json_object_set_new(o, "tick_ns", json_real(run->tick_ns));
    return o;
}

static json_t *config(const struct lab_config *c)
{
    json_t *o = json_object();
    json_t *cpus = json_array();
    for (size_t i = 0; i < c->n_cpus; i++)
        json_array_append_new(cpus, number(c->cpus[i]));
    json_object_set_new(o, "api", json_string(c->api == LAB_API_SLUB ? "slub" : "malloc"));
    json_object_set_new(o, "count", number(c->count));
    json_object_set_new(o, "repeats", number(c->n_repeats));
    json_object_set_new(o, "warmup", number(c->n_warmup));
    json_object_set_new(o, "rounds", number(c->n_rounds));
    json_object_set_new(o, "robust", json_boolean(c->robust));
    json_object_set_new(o, "freers", c->n_freers == 0 ? json_null() : number(c->n_freers));
    json_object_set_new(o, "idle_ns", number(c->idle_s * 1000000000u));
    json_object_set_new(o, "seed", number(c->seed));
    json_object_set_new(o, "cpus", cpus);
    return o;
}

static json_t *allocator(const struct lab_allocator *a)
{
    json_t *o = json_object();
    json_object_set_new(o, "label", any_text(a->label));
    json_object_set_new(o, "spec", any_text(a->spec));
    json_object_set_new(o, "control", json_boolean(a->is_control));
    json_object_set_new(o, "slub", json_boolean(a->is_slub));
    json_object_set_new(o, "options", a->options == NULL ? json_null() : any_text(a->options));
    json_object_set_new(o, "path", any_text(a->owner));
    json_object_set_new(o, "version", text_or_null(a->version));
    json_object_set_new(o, "mode", text_or_null(a->mode));
    json_object_set_new(o, "percpu", text_or_null(a->percpu));
    json_object_set_new(o, "percpu_index", text_or_null(a->percpu_index));
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
                                                                 : number(size->counter[k]));
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
                json_array_append_new(repeats, number(ticks[i]));
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

static json_t *result(const struct slab_view *v, const struct lab_result *r)
{
    const struct lab_case *k = &v->run->cases[r->case_index];
    const struct slab_test *test = &slab_tests[k->test];
    const struct slab_wire_head *h = r->head;
    json_t *o = json_object();
    json_t *sizes = json_array();

    for (size_t s = 0; s < k->n_sizes; s++) {
        json_t *size = json_object();
        json_object_set_new(size, "size_bytes", number(k->sizes[s]));
        json_object_set_new(size, "allocs", number(r->sizes[s].n_allocs));
        json_object_set_new(size, "frees", number(r->sizes[s].n_frees));
        json_object_set_new(size, "ticks", samples(r, s));
        json_object_set_new(size, "counters",
                            h->has_counters ? counters(&r->sizes[s]) : json_null());
        json_array_append_new(sizes, size);
    }
    json_object_set_new(o, "test", json_string(test->name));
    json_object_set_new(o, "threads", number(k->n_threads));
    json_object_set_new(o, "allocator",
                        any_text(v->run->config->allocators[r->allocator_index].label));
    json_object_set_new(o, "round", number(r->round));
    json_object_set_new(o, "columns", column_names(test));
    json_object_set_new(o, "ops_per_sample", number(h->ops[0]));
    json_object_set_new(o, "rss_start_bytes", number(h->rss_start_bytes));
    json_object_set_new(o, "rss_end_bytes", number(h->rss_end_bytes));
    json_object_set_new(o, "rss_idle_bytes", number(h->rss_idle_bytes));
    json_object_set_new(o, "rss_peak_bytes", number(h->rss_peak_bytes));
    json_object_set_new(o, "idle_ns", number(h->idle_ns));
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
    json_object_set_new(o, "threads", number(lab_case->n_threads));
    json_object_set_new(o, "allocator", any_text(v->run->config->allocators[a].label));
    json_object_set_new(o, "size_bytes", number(lab_case->sizes[s]));
    json_object_set_new(o, "op",
                        json_string(test->n_columns == 1 ? "pair"
                                    : column == 0        ? "alloc"
                                                         : "free"));
    json_object_set_new(o, "samples", number(sum.n));
    set_statistics(o, &sum, 1, "ticks");
    set_statistics(o, &sum, v->run->tick_ns, "ns");
    return o;
}

/* Writes ,"key":value and drops the value. */
static int write_member(FILE *out, const char *key, json_t *value)
{
    if (value == NULL)
        return -ENOMEM;
    fprintf(out, ",\n\"%s\":", key);
    const int err = json_dumpf(value, out, FORMAT);
    json_decref(value);
    return err != 0 ? -ENOMEM : 0;
}

static int write_element(FILE *out, size_t index, json_t *value)
{
    if (value == NULL)
        return -ENOMEM;
    fputs(index == 0 ? "\n" : ",\n", out);
    const int err = json_dumpf(value, out, FORMAT);
    json_decref(value);
    return err != 0 ? -ENOMEM : 0;
}

static int write_skipped(const struct lab_config *c, FILE *out)
{
    json_t *list = json_array();
    for (unsigned t = 0; t < SLAB_N_TESTS; t++) {
        const char *why = c->tests[t] ? lab_run_skips(c, (enum slab_test_id)t) : NULL;
        if (why != NULL)
            json_array_append_new(list,
                                  json_pack("{s:s,s:s}", "test", slab_tests[t].name, "why", why));
    }
    return write_member(out, "skipped", list);
}

static int write_summaries(const struct slab_view *v, FILE *out)
{
    const struct lab_run *run = v->run;
    size_t n = 0;
    int err = 0;

    fputs(",\n\"summary\":[", out);
    for (size_t k = 0; k < run->n_cases; k++) {
        for (size_t a = 0; a < run->config->n_allocators; a++) {
            for (size_t s = 0; s < run->cases[k].n_sizes; s++) {
                for (unsigned c = 0; c < slab_tests[run->cases[k].test].n_columns && err == 0; c++)
                    err = write_element(out, n++, summary(v, k, a, s, c));
            }
        }
    }
    fputs("]", out);
    return err;
}

int slab_json_write(const struct slab_view *v, char *const *argv, FILE *out)
{
    const struct lab_run *run = v->run;
    const struct lab_config *c = run->config;
    json_t *allocators = json_array();
    int err;

    for (size_t i = 0; i < c->n_allocators; i++)
        json_array_append_new(allocators, allocator(&c->allocators[i]));
    fputs("{\"schema\":\"slub-bench/1\",\n\"benchmark\":\"slab_test\"", out);
    err = write_member(out, "slub_version", json_string(SLUB_VERSION));
    err = err != 0 ? err : write_member(out, "started_unix_s", number(run->started_unix_s));
    err = err != 0 ? err : write_member(out, "command", command_line(argv));
    err = err != 0 ? err : write_member(out, "environment", environment());
    err = err != 0 ? err : write_member(out, "machine", machine(run));
    err = err != 0 ? err : write_member(out, "config", config(c));
    err = err != 0 ? err : write_member(out, "allocators", allocators);
    err = err != 0 ? err : write_skipped(c, out);
    fputs(",\n\"results\":[", out);
    for (size_t i = 0; i < run->n_results && err == 0; i++)
        err = write_element(out, i, result(v, &run->results[i]));
    fputs("]", out);
    err = err != 0 ? err : write_summaries(v, out);
    fputs("}\n", out);
    if (err == 0 && (fflush(out) != 0 || ferror(out)))
        err = -EIO;
    return err;
}
