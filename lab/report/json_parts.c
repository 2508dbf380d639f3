/* SPDX-License-Identifier: MIT */
/* Owns the JSON members that all benchmarks share: who measured what, where and with which
 * allocators.
 *
 * A value that could not be made (out of memory) is left out by jansson; the write then fails as a
 * whole.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "report/json_parts.h"

#include "workloads/ticks.h"

#include <errno.h>
#include <slub/version.h>
#include <string.h>

#define FORMAT (JSON_COMPACT | JSON_REAL_PRECISION(10) | JSON_ENCODE_ANY)

extern char **environ;

json_t *parts_number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

json_t *parts_text_or_null(const char *s)
{
    return s == NULL || s[0] == '\0' ? json_null() : json_string(s);
}

json_t *parts_any_text(const char *s)
{
    json_t *text = json_string(s);
    return text != NULL ? text : json_string("(not UTF-8)");
}

static json_t *command_line(char *const *argv, bool is_whole)
{
    json_t *list = is_whole ? json_pack("[s]", "slub") : json_pack("[ss]", "slub", "bench");
    for (size_t i = 0; argv[i] != NULL; i++)
        json_array_append_new(list, parts_any_text(argv[i]));
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
                json_object_set_new(object, name, parts_any_text(equals + 1));
            }
        }
    }
    return object;
}

static json_t *machine_members(const struct lab_machine *m, double tick_ns)
{
    json_t *o = json_object();
    json_object_set_new(o, "cpu", parts_any_text(m->cpu_model));
    json_object_set_new(o, "cpus", parts_number(m->n_cpus));
    json_object_set_new(o, "nodes", parts_number(m->n_nodes));
    json_object_set_new(o, "guest", json_boolean(m->is_guest));
    json_object_set_new(o, "kernel", parts_any_text(m->kernel));
    json_object_set_new(o, "libc", parts_any_text(m->libc));
    json_object_set_new(o, "compiler", parts_any_text(m->compiler));
    json_object_set_new(o, "thp", parts_text_or_null(m->thp));
    json_object_set_new(o, "governor", parts_text_or_null(m->governor));
    json_object_set_new(o, "memory_bytes", parts_number(m->memory_bytes));
    json_object_set_new(o, "page_bytes", parts_number(m->page_bytes));
    json_object_set_new(o, "tick_source", json_string(TICKS_NAME));
    json_object_set_new(o, "tick_constant", json_boolean(m->has_constant_clock));
    json_object_set_new(o, "tick_ns", json_real(tick_ns));
    return o;
}

static json_t *allocator(const struct lab_allocator *a)
{
    json_t *o = json_object();
    json_object_set_new(o, "label", parts_any_text(a->label));
    json_object_set_new(o, "spec", parts_any_text(a->spec));
    json_object_set_new(o, "control", json_boolean(a->is_control));
    json_object_set_new(o, "slub", json_boolean(a->is_slub));
    json_object_set_new(o, "options",
                        a->options == NULL ? json_null() : parts_any_text(a->options));
    json_object_set_new(o, "path", parts_any_text(a->owner));
    json_object_set_new(o, "version", parts_text_or_null(a->version));
    json_object_set_new(o, "mode", parts_text_or_null(a->mode));
    json_object_set_new(o, "percpu", parts_text_or_null(a->percpu));
    json_object_set_new(o, "percpu_index", parts_text_or_null(a->percpu_index));
    return o;
}

static json_t *allocators_of(const struct lab_allocator *allocators, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, allocator(&allocators[i]));
    return list;
}

static int write_member(FILE *out, const char *name, json_t *value)
{
    if (value == NULL)
        return -ENOMEM;
    fprintf(out, ",\n\"%s\":", name);
    const int err = json_dumpf(value, out, FORMAT);
    json_decref(value);
    return err != 0 ? -ENOMEM : 0;
}

int parts_write_element(FILE *out, size_t index, json_t *value)
{
    if (value == NULL)
        return -ENOMEM;
    fputs(index == 0 ? "\n" : ",\n", out);
    const int err = json_dumpf(value, out, FORMAT);
    json_decref(value);
    return err != 0 ? -ENOMEM : 0;
}

static int write_head(FILE *out, const struct parts_run *p, char *const *argv)
{
    fprintf(out, "{\"schema\":\"slub-bench/1\",\n\"benchmark\":\"%s\"", p->benchmark);
    int err = write_member(out, "slub_version", json_string(SLUB_VERSION));
    err = err != 0 ? err : write_member(out, "started_unix_s", parts_number(p->started_unix_s));
    err = err != 0 ? err : write_member(out, "command", command_line(argv, p->is_whole_command));
    err = err != 0 ? err : write_member(out, "environment", environment());
    return err != 0 ? err : write_member(out, "machine", machine_members(p->machine, p->tick_ns));
}

json_t *parts_list_config(const struct lab_config *c, bool is_short)
{
    return json_pack("{s:b,s:o,s:o,s:o}", "short", is_short ? 1 : 0, "rounds", parts_number(c->n_rounds),
                     "timeout_s", parts_number(c->timeout_s), "seed", parts_number(c->seed));
}

int parts_write_run(const struct parts_run *p, char *const *argv, FILE *out)
{
    const struct lab_config *c = p->lab;
    int err = write_head(out, p, argv);

    const int config_err = write_member(out, "config", p->config);
    err = err != 0 ? err : config_err;
    err = err != 0 ? err : write_member(out, "allocators", allocators_of(c->allocators, c->n_allocators));
    const int skipped_err = write_member(out, "skipped", p->skipped);
    err = err != 0 ? err : skipped_err;
    fputs(",\n\"results\":[", out);
    for (size_t i = 0; i < p->n_results && err == 0; i++)
        err = parts_write_element(out, i, p->result(p->run, i));
    fputs("],\n\"summary\":[", out);
    err = err != 0 ? err : p->write_summaries(p->run, out);
    fputs("]}\n", out);
    if (err == 0 && (fflush(out) != 0 || ferror(out)))
        err = -EIO;
    return err;
}
