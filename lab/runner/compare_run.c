/* SPDX-License-Identifier: MIT */
/* Owns the order of a comparison: check, pilot, blocks, and when to stop. See compare_run.h.
 *
 * Whether to go on is asked of the width of the interval alone. A sample is in the journal before the next one is
 * begun, and the order of a block depends on the seed and its number only: a run that was ended goes on where it was.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/compare_run.h"

#include "runner/compare_check.h"
#include "runner/journal.h"
#include "stats/power.h"
#include "workloads/ticks.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <slub/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Of a run under way. */
struct work {
    struct compare_run *run;
    struct sample_site site;
    struct journal journal;
    char paths[COMPARE_MOST_SIDES][PATH_MAX];
    char **envs[COMPARE_MOST_SIDES];
    uint64_t started_ns;
    double last_width; /* of the widest interval of the first metric; 0: not known */
};

/* ---- samples --------------------------------------------------------------------------- */

static int keep(struct compare_run *run, const struct compare_sample *s)
{
    if ((run->n_samples & (run->n_samples + 1)) == 0) {
        struct compare_sample *more = realloc(run->samples, (2 * run->n_samples + 2) * sizeof(*more));
        if (more == NULL)
            return -ENOMEM;
        run->samples = more;
    }
    run->samples[run->n_samples++] = *s;
    return 0;
}

static const struct compare_sample *find_sample(const struct compare_run *run, size_t block, size_t side)
{
    for (size_t i = 0; i < run->n_samples; i++) {
        if (run->samples[i].block == block && run->samples[i].side == side)
            return &run->samples[i];
    }
    return NULL;
}

void compare_run_series(const struct compare_run *run, size_t side, size_t metric, double *out)
{
    for (size_t i = 0; i < run->n_samples; i++) {
        const struct compare_sample *s = &run->samples[i];
        if (s->side == side && s->block < run->n_blocks)
            out[s->block] = s->values[metric];
    }
}

static json_t *sample_line(const struct compare_run *run, const struct compare_sample *s)
{
    const struct start_report *r = &s->report;
    json_t *values = json_array();
    for (size_t i = 0; i < run->config->n_metrics; i++)
        json_array_append_new(values, json_real(s->values[i]));
    return json_pack("{s:i,s:i,s:i,s:i,s:I,s:i,s:i,s:[I,I,I,I,I,I,I,I],s:o}", "block", (int)s->block, "side",
                     (int)s->side, "place", (int)s->place, "variant", (int)s->variant, "ms", (json_int_t)s->started_ms,
                     "env", (int)s->environment_pad, "path", (int)s->path_pad, "report", (json_int_t)r->wall_ns,
                     (json_int_t)r->user_ns, (json_int_t)r->system_ns, (json_int_t)r->peak_bytes,
                     (json_int_t)r->minor_faults, (json_int_t)r->major_faults, (json_int_t)r->voluntary_switches,
                     (json_int_t)r->forced_switches, "values", values);
}

static int take_line(const json_t *line, void *context)
{
    struct compare_run *run = context;
    struct compare_sample s = {0};
    json_int_t ms = 0, r[8] = {0};
    json_t *values = NULL;

    if (json_unpack((json_t *)line, "{s:i,s:i,s:i,s:i,s:I,s:i,s:i,s:[I,I,I,I,I,I,I,I],s:o}", "block", &s.block, "side",
                    &s.side, "place", &s.place, "variant", &s.variant, "ms", &ms, "env", &s.environment_pad, "path",
                    &s.path_pad, "report", &r[0], &r[1], &r[2], &r[3], &r[4], &r[5], &r[6], &r[7], "values",
                    &values) != 0 ||
        json_array_size(values) != run->config->n_metrics)
        return -EEXIST;
    s.started_ms = (uint64_t)ms;
    s.report = (struct start_report){(uint64_t)r[0], (uint64_t)r[1], (uint64_t)r[2], (uint64_t)r[3], (uint64_t)r[4],
                                     (uint64_t)r[5], (uint64_t)r[6], (uint64_t)r[7], 0,              0,
                                     0};
    for (size_t i = 0; i < run->config->n_metrics; i++)
        s.values[i] = json_number_value(json_array_get(values, i));
    run->n_resumed++;
    return keep(run, &s);
}

/* The side that is run for a sample's side: the control and the pilot are the first. */
static size_t real_side(const struct compare_config *c, size_t side)
{
    return side < c->n_sides ? side : 0;
}

static int measure(struct work *w, struct compare_sample *s, char *why, size_t room)
{
    const struct compare_config *c = w->run->config;
    const size_t side = real_side(c, s->side);
    struct rng rng = {c->lab.seed * 0x9e3779b97f4a7c15u + s->block * 64 + s->side};
    struct sample_result result;
    char reason[512];
    const char *path = c->n_variants > 0 ? c->variants[s->variant] : w->paths[side];

    s->started_ms = (ticks_now_ns() - w->started_ns) / 1000000u;
    int err =
        sample_take(&w->site, path, c->sides[side].argv, w->envs[side], &rng, &result, reason, sizeof(reason));
    s->environment_pad = result.environment_pad;
    s->path_pad = result.path_pad;
    s->report = result.report;
    for (size_t i = 0; i < c->n_metrics && err == 0; i++)
        err = lab_metric_read(&c->metrics[i], &result, &s->values[i], reason, sizeof(reason));
    sample_release(&result);
    if (err == -1)
        snprintf(why, room, "%s: %.400s", c->sides[side].label, reason);
    if (err == -ENOTSUP)
        snprintf(why, room, "%s", reason);
    return err;
}

/* Takes and keeps a sample, unless the journal had it. */
static int take(struct work *w, struct compare_sample s, char *why, size_t room)
{
    if (find_sample(w->run, s.block, s.side) != NULL)
        return 0;
    int err = measure(w, &s, why, room);
    if (err != 0)
        return err;
    json_t *line = sample_line(w->run, &s);
    err = line == NULL ? -ENOMEM : journal_append(&w->journal, line);
    json_decref(line);
    if (err == 0)
        err = keep(w->run, &s);
    if (err == 0)
        return 0;
    snprintf(why, room, "cannot keep a sample in '%s': %s", w->journal.path, strerror(-err));
    return -1;
}

/* ---- before measuring -------------------------------------------------------------------- */

static void name_file(char **key, const char *path)
{
    struct stat st = {0};
    char *more;

    (void)stat(path, &st);
    if (asprintf(&more, "%s|%s %lld %lld.%09ld %llu", *key != NULL ? *key : "", path, (long long)st.st_size,
                 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (unsigned long long)st.st_ino) < 0)
        more = NULL;
    free(*key);
    *key = more;
}

static void name_words(char **key, char *const *words)
{
    for (size_t i = 0; words[i] != NULL && *key != NULL; i++) {
        char *more;
        if (asprintf(&more, "%s %s", *key, words[i]) < 0)
            more = NULL;
        free(*key);
        *key = more;
    }
}

/* What two runs must share for their samples to be one run's: files, words, metrics, CPUs, seed. NULL: no memory. */
static char *make_key(const struct work *w)
{
    const struct compare_config *c = w->run->config;
    char *key = NULL;

    if (asprintf(&key, "%s %s cpus %s seed %llu", SLUB_VERSION, c->benchmark, c->cpus != NULL ? c->cpus : "-",
                 (unsigned long long)c->lab.seed) < 0)
        return NULL;
    for (size_t i = 0; i < c->n_sides; i++) {
        const struct compare_side *s = &c->sides[i];
        char *const spec[] = {s->allocator != NULL ? s->allocator->spec : "-", NULL};
        name_file(&key, c->n_variants > 0 ? c->variants[0] : w->paths[i]);
        if (s->allocator != NULL)
            name_file(&key, s->allocator->path);
        name_words(&key, spec);
        name_words(&key, s->argv);
    }
    for (size_t i = 0; i < c->n_metrics; i++) {
        char *const metric[] = {(char *)c->metrics[i].name, c->metrics[i].pattern, NULL};
        name_words(&key, metric);
    }
    return key;
}

static int default_journal(const char *key, char path[PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    const bool has_state = state != NULL && state[0] == '/';
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

    if (!has_state && (home == NULL || home[0] != '/'))
        return -ENOENT;
    for (const char *p = key; *p != '\0'; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
    snprintf(path, PATH_MAX, "%.1000s%s/slub/compare-%016llx.journal", has_state ? state : home,
             has_state ? "" : "/.local/state", (unsigned long long)hash);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const int err = mkdir(path, 0700) != 0 && errno != EEXIST ? -errno : 0;
        *slash = '/';
        if (err != 0)
            return err;
    }
    return 0;
}

static int open_journal(struct work *w, char *why, size_t room)
{
    const struct compare_config *c = w->run->config;
    char path[PATH_MAX];
    char *key = make_key(w);

    w->journal.fd = -1;
    if (key == NULL)
        return snprintf(why, room, "out of memory"), -1;
    if (c->journal != NULL)
        snprintf(path, sizeof(path), "%s", c->journal);
    else if (default_journal(key, path) != 0)
        path[0] = '\0';
    const int err = path[0] == '\0' ? 0 : journal_open(&w->journal, path, key, take_line, w->run);
    free(key);
    if (err == -EEXIST)
        snprintf(why, room, "'%s' holds samples of something else: remove it, or name another with --journal", path);
    else if (err == -EWOULDBLOCK)
        snprintf(why, room, "'%s' is being written by another run", path);
    else if (err != 0)
        snprintf(why, room, "cannot keep samples in '%s': %s; name another file with --journal", path, strerror(-err));
    snprintf(w->run->journal_path, sizeof(w->run->journal_path), "%s", path);
    return err != 0 ? -1 : 0;
}

static int prepare_side(struct work *w, size_t i, char *why, size_t room)
{
    const struct compare_config *c = w->run->config;
    const struct compare_side *s = &c->sides[i];
    const struct lab_allocator inherited = {0};
    const int err = c->n_variants > 0 ? 0 : sample_find_program(s->argv[0], w->paths[i]);

    if (err != 0)
        return snprintf(why, room, "cannot run '%s': %s", s->argv[0], strerror(-err)), -1;
    w->envs[i] = lab_allocator_environ(s->allocator != NULL ? s->allocator : &inherited);
    if (w->envs[i] == NULL)
        return snprintf(why, room, "out of memory"), -1;
    if (s->allocator == NULL || s->allocator->path == NULL)
        return 0;
    return compare_check_side(w->run, s, c->n_variants > 0 ? c->variants[0] : w->paths[i], w->envs[i], why, room);
}

/* The noise of the first metric, and so what the run will be able to show. The first run only warms up. */
static int run_pilot(struct work *w, char *why, size_t room)
{
    const struct compare_config *c = w->run->config;
    double values[COMPARE_N_PILOT];

    for (unsigned i = 0; i < COMPARE_N_PILOT + 1; i++) {
        const struct compare_sample s = {.block = i, .side = (unsigned)c->n_sides + 1};
        const int err = take(w, s, why, room);
        if (err != 0)
            return err;
        if (i > 0)
            values[i - 1] = find_sample(w->run, i, s.side)->values[0];
    }
    w->run->pilot_noise = lab_relative_noise(values, COMPARE_N_PILOT);
    w->run->detectable = lab_detectable(w->run->pilot_noise, c->most_runs, c->rules.alpha);
    return 0;
}

/* ---- blocks ------------------------------------------------------------------------------ */

static void draw_order(const struct compare_config *c, size_t block, unsigned *order, unsigned *variant)
{
    struct rng rng = {c->lab.seed ^ (block + 1) * 0xd1342543de82ef95u};

    for (unsigned i = 0; i <= c->n_sides; i++)
        order[i] = i;
    for (size_t i = c->n_sides; i > 0; i--) {
        const size_t k = rng_below(&rng, i + 1);
        const unsigned moved = order[i];
        order[i] = order[k];
        order[k] = moved;
    }
    *variant = c->n_variants > 0 ? (unsigned)rng_below(&rng, c->n_variants) : 0;
}

static void show_progress(const struct work *w)
{
    const struct compare_config *c = w->run->config;
    const double width = w->last_width / c->rules.threshold;
    double blocks = (double)c->most_runs;

    if (!isatty(STDERR_FILENO))
        return;
    if (!c->is_fixed && w->last_width > 0)
        blocks = fmin(blocks, fmax((double)w->run->n_blocks * width * width, (double)w->run->n_blocks + 1));
    const double done_s = (double)(ticks_now_ns() - w->started_ns) / 1e9;
    const double fresh = (double)(w->run->n_samples - w->run->n_resumed) / (double)(c->n_sides + 1);
    const double left_s = fresh > 0 ? fmin(done_s / fresh * (blocks - (double)w->run->n_blocks),
                                           fmax((double)c->budget_s - done_s, 0))
                                    : 0;
    fprintf(stderr, "\r%s: %zu of about %.0f blocks, about %.0f s left   ", c->benchmark, w->run->n_blocks, blocks,
            left_s);
}

/* Whether every side's interval is narrow. 1, 0 or a negative errno. */
static int are_narrow(struct work *w)
{
    const struct compare_run *run = w->run;
    const size_t n = run->n_blocks;
    double *a = malloc(2 * (n + 1) * sizeof(a[0]));
    int all = 1;

    if (a == NULL)
        return -ENOMEM;
    w->last_width = 0;
    compare_run_series(run, 0, 0, a);
    for (size_t side = 1; side < run->config->n_sides && all >= 0; side++) {
        double width = 0;
        compare_run_series(run, side, 0, a + n);
        const int narrow = lab_is_narrow(a, n, a + n, n, &run->config->rules, &width);
        w->last_width = fmax(w->last_width, width);
        all = narrow < 0 ? narrow : all && narrow;
    }
    free(a);
    return all;
}

static int measure_block(struct work *w, char *why, size_t room)
{
    const struct compare_config *c = w->run->config;
    unsigned order[COMPARE_MOST_SIDES + 1];
    struct compare_sample s = {.block = (unsigned)w->run->n_blocks};

    draw_order(c, s.block, order, &s.variant);
    for (unsigned i = 0; i <= c->n_sides; i++) {
        s.place = i;
        s.side = order[i];
        show_progress(w);
        const int err = take(w, s, why, room);
        if (err != 0)
            return err;
    }
    w->run->n_blocks++;
    return 0;
}

static int measure_blocks(struct work *w, char *why, size_t room)
{
    const struct compare_config *c = w->run->config;

    for (;;) {
        if (w->run->n_blocks >= c->most_runs) {
            w->run->end = COMPARE_RUNS;
            return 0;
        }
        if (ticks_now_ns() - w->started_ns > c->budget_s * 1000000000u) {
            w->run->end = COMPARE_BUDGET;
            return 0;
        }
        int err = measure_block(w, why, room);
        if (err != 0)
            return err;
        err = are_narrow(w);
        if (err < 0)
            return snprintf(why, room, "out of memory"), -1;
        if (err == 1 && !c->is_fixed) {
            w->run->end = COMPARE_NARROW;
            return 0;
        }
    }
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    sample_interrupt();
}

static int carry_out(struct work *w, char *why, size_t room)
{
    const struct compare_config *c = w->run->config;
    struct compare_run *run = w->run;

    for (size_t i = 0; i < c->n_sides; i++) {
        if (prepare_side(w, i, why, room) != 0)
            return -2;
    }
    if (open_journal(w, why, room) != 0)
        return -2;
    w->started_ns = ticks_now_ns();
    int err = run_pilot(w, why, room);
    if (err == 0) {
        if (c->announce != NULL)
            c->announce(run);
        err = measure_blocks(w, why, room);
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%79s\r", "");
    if (err == -EINTR) {
        run->end = COMPARE_INTERRUPTED;
        err = 0;
    }
    return err == 0 ? 0 : err == -ENOTSUP ? -3 : -1;
}

int compare_run_measure(struct compare_run *run, const struct compare_config *config, char *why, size_t room)
{
    struct work *w = calloc(1, sizeof(*w));
    struct sigaction on = {.sa_handler = on_interrupt};
    struct sigaction old_int, old_term;
    struct lab_clock clock;

    memset(run, 0, sizeof(*run));
    run->config = config;
    run->started_unix_s = (uint64_t)time(NULL);
    if (w == NULL)
        return snprintf(why, room, "out of memory"), -2;
    w->run = run;
    w->journal.fd = -1;
    lab_clock_start(&clock);
    lab_machine_describe(&run->machine);
    sigaction(SIGINT, &on, &old_int);
    sigaction(SIGTERM, &on, &old_term);
    int err = sample_site_open(&w->site, config->cpus, (unsigned)config->lab.timeout_s, why, room) != 0 ? -2 : 0;
    if (err == 0)
        err = carry_out(w, why, room);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    journal_close(&w->journal, err == -3 || (err == 0 && run->end != COMPARE_INTERRUPTED));
    sample_site_close(&w->site);
    for (size_t i = 0; i < config->n_sides; i++)
        lab_environ_free(w->envs[i]);
    free(w);
    run->tick_ns = lab_clock_tick_ns(&clock);
    return err;
}

void compare_run_release(struct compare_run *run)
{
    free(run->samples);
    memset(run, 0, sizeof(*run));
}
