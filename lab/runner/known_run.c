/* SPDX-License-Identifier: MIT */
/* Owns the order of a run of the known failures and what its figures are judged by.
 *
 * Cases in the order of the table; of each, the allocators in random order in every round, each in
 * a process of its own, one after the other: times are only worth comparing from neighbouring
 * minutes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/known_run.h"

#include "runner/worker_proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PEER_SLACK_PER_MILLE 50 /* what two runs of one allocator differ by */

const char *known_run_skips(enum known_case_id id)
{
    static unsigned cpus[LAB_MAX_CPUS];
    size_t n_cpus = 0;

    if (lab_machine_cpus(cpus, LAB_MAX_CPUS, &n_cpus) == 0 &&
        n_cpus < (size_t)known_case(id)->n_cpus)
        return "needs two CPUs";
    return NULL;
}

static int start(struct lab_worker *w, const struct known_config *c, const struct lab_allocator *a,
                 enum known_case_id id)
{
    const struct lab_shape shape = {1, (uint32_t)known_case(id)->n_figures, 1, 1};
    char which[32];
    char form[32];
    char seed[48];
    char *expect = NULL;
    char **env = lab_allocator_environ(a);

    if (env == NULL || (a->path != NULL && asprintf(&expect, "expect=%s", a->path) < 0)) {
        lab_environ_free(env);
        return -ENOMEM;
    }
    snprintf(which, sizeof(which), "known=%d", (int)id);
    snprintf(form, sizeof(form), "full=%d", c->is_short ? 0 : 1);
    snprintf(seed, sizeof(seed), "seed=%llu", (unsigned long long)c->lab.seed);
    char *const argv[] = {a->worker, which, form, seed, expect, NULL};
    const int err = lab_worker_start(w, argv, env, &shape);
    free(expect);
    lab_environ_free(env);
    return err;
}

static void carry_out(const struct known_config *c, struct known_result *r)
{
    const struct lab_allocator *a = &c->lab.allocators[r->allocator_index];
    struct lab_worker w;
    char why[512] = "";

    const int err = start(&w, c, a, r->id);
    if (err != 0) {
        snprintf(r->failure, sizeof(r->failure), "no worker: %s", strerror(-err));
        return;
    }
    if (lab_worker_wait_measured(&w, (unsigned)c->lab.timeout_s, why, sizeof(why)) == 0) {
        const struct slab_wire_head *head = w.shared;
        const uint64_t *figures = slab_wire_ticks(w.shared, head);
        memcpy(r->figures, figures, head->n_lanes * sizeof(figures[0]));
        (void)lab_worker_finish(&w, why, sizeof(why));
    }
    snprintf(r->failure, sizeof(r->failure), "%.*s", (int)sizeof(r->failure) - 1, why);
    lab_worker_release(&w);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void measure_case(struct known_run *run, enum known_case_id id, uint64_t *random)
{
    const struct known_config *c = run->config;
    const size_t n = c->lab.n_allocators;

    for (unsigned round = 0; round < c->lab.n_rounds; round++) {
        const size_t first = next_random(random) % n;
        for (size_t i = 0; i < n; i++) {
            struct known_result *r = &run->results[run->n_results++];
            r->id = id;
            r->allocator_index = (first + i) % n;
            r->round = round;
            if (isatty(STDERR_FILENO))
                fprintf(stderr, "\r%-20s %-20s", known_case(id)->name,
                        c->lab.allocators[r->allocator_index].label);
            carry_out(c, r);
        }
    }
}

int known_run_measure(struct known_run *run, const struct known_config *config, char *why,
                      size_t room)
{
    const struct lab_config *c = &config->lab;
    uint64_t random = c->seed * 2 + 1; /* never zero */
    struct lab_clock clock;

    memset(run, 0, sizeof(*run));
    run->config = config;
    run->started_unix_s = (uint64_t)time(NULL);
    lab_clock_start(&clock);
    lab_machine_describe(&run->machine);
    run->results = calloc(KNOWN_N_CASES * c->n_allocators * c->n_rounds, sizeof(run->results[0]));
    if (run->results == NULL) {
        snprintf(why, room, "out of memory");
        return -1;
    }
    for (unsigned id = 0; id < KNOWN_N_CASES; id++) {
        if (config->cases[id] && known_run_skips((enum known_case_id)id) == NULL)
            measure_case(run, (enum known_case_id)id, &random);
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%48s\r", "");
    run->tick_ns = lab_clock_tick_ns(&clock);
    return 0;
}

void known_run_release(struct known_run *run)
{
    free(run->results);
    memset(run, 0, sizeof(*run));
}

bool known_run_value(const struct known_run *run, enum known_case_id id, size_t figure,
                     size_t allocator_index, uint64_t *value, const char **failure)
{
    const struct known_figure *f = &known_case(id)->figures[figure];
    const bool takes_least = f->unit == KNOWN_NS;
    bool has_value = false;

    for (size_t i = 0; i < run->n_results; i++) {
        const struct known_result *r = &run->results[i];
        if (r->id != id || r->allocator_index != allocator_index)
            continue;
        if (r->failure[0] != '\0') {
            *failure = r->failure;
            return false;
        }
        const uint64_t v = r->figures[figure];
        if (!has_value || (takes_least ? v < *value : v > *value))
            *value = v;
        has_value = true;
    }
    *failure = "not measured";
    return has_value;
}

static bool peer_limit(const struct known_run *run, enum known_case_id id, size_t figure,
                       uint64_t *limit)
{
    const char *failure;

    for (size_t i = 0; i < run->config->lab.n_allocators; i++) {
        if (strcmp(run->config->lab.allocators[i].name, KNOWN_PEER) == 0 &&
            known_run_value(run, id, figure, i, limit, &failure)) {
            *limit += *limit * PEER_SLACK_PER_MILLE / 1000;
            return true;
        }
    }
    return false;
}

enum known_verdict known_run_judge(const struct known_run *run, enum known_case_id id,
                                   size_t figure, size_t allocator_index)
{
    const struct known_figure *f = &known_case(id)->figures[figure];
    uint64_t value = 0;
    uint64_t limit = f->limit;
    const char *failure;

    if (!known_run_value(run, id, figure, allocator_index, &value, &failure))
        return KNOWN_FAILS;
    if (f->rule == KNOWN_AT_LEAST)
        return value >= limit ? KNOWN_PASSES : KNOWN_FAILS;
    if (f->rule == KNOWN_AT_MOST_PEER && !peer_limit(run, id, figure, &limit))
        return KNOWN_NOT_JUDGED;
    return value <= limit ? KNOWN_PASSES : KNOWN_FAILS;
}

bool known_run_counts(const struct known_run *run, size_t allocator_index)
{
    const struct lab_config *c = &run->config->lab;
    bool has_slub = false;

    for (size_t i = 0; i < c->n_allocators; i++)
        has_slub = has_slub || c->allocators[i].is_slub;
    return !has_slub || c->allocators[allocator_index].is_slub;
}

bool known_run_has_failed(const struct known_run *run)
{
    for (size_t i = 0; i < run->n_results; i++) {
        const struct known_result *r = &run->results[i];
        for (size_t k = 0; k < known_case(r->id)->n_figures; k++) {
            if (known_run_counts(run, r->allocator_index) &&
                known_run_judge(run, r->id, k, r->allocator_index) == KNOWN_FAILS)
                return true;
        }
    }
    return false;
}
