/* SPDX-License-Identifier: MIT */
/* Owns the order of a run of whole programs, the directories that they work in and what counts as
 * failed.
 *
 * A program is prepared once and then run on the allocators in random order in every round, one
 * after the other: times are only worth comparing from neighbouring minutes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/program_run.h"

#include "runner/places.h"
#include "runner/process_tree.h"
#include "stats/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAME          "programs/frame.sh"
#define STATUS_SKIPPED 77
#define PRELOAD        "LD_PRELOAD="
#define HANDED_PRELOAD "SLUB_PROGRAM_PRELOAD="

extern char **environ;

const struct program programs[] = {
#define PROGRAM(name, starts, help) {name, starts, help},
#include "programs/programs.def"
#undef PROGRAM
};
const size_t n_programs = sizeof(programs) / sizeof(programs[0]);
_Static_assert(sizeof(programs) / sizeof(programs[0]) <= PROGRAM_MOST, "room for every program");

/* Of one program, while it is measured. */
struct place {
    char frame[PATH_MAX];
    char dir[PATH_MAX];
    char log[PATH_MAX + 8];
};

/* What the processes of one run had for malloc. */
struct owners {
    const struct program_config *config;
    const char *expected; /* NULL: any */
    char failure[512];    /* the first that was wrong */
};

static void look(pid_t pid, void *context)
{
    struct owners *o = context;
    char owner[PATH_MAX] = "";
    char real[PATH_MAX];
    char why[256] = "";
    char path[64];
    char program[PATH_MAX] = "?";

    if (o->failure[0] != '\0' || o->expected == NULL)
        return;
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    const ssize_t n = readlink(path, program, sizeof(program) - 1);
    program[n > 0 ? n : 1] = '\0';
    if (o->config->find_owner(pid, owner, sizeof(owner), why, sizeof(why)) != 0)
        snprintf(o->failure, sizeof(o->failure), "%.200s: %s", program, why);
    else if (realpath(owner, real) == NULL || strcmp(real, o->expected) != 0)
        snprintf(o->failure, sizeof(o->failure), "%.200s has its malloc from '%.200s'", program,
                 owner);
}

/* The last line of the log that says something, or a line of the allocator's own. */
static bool read_log(const char *path, bool ours_only, char *text, size_t room)
{
    char line[256];
    bool found = false;
    FILE *f = fopen(path, "re");

    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const bool is_ours = strncmp(line, "slub", strlen("slub")) == 0;
        if (line[0] == '\0' || (ours_only && !is_ours))
            continue;
        snprintf(text, room, "%s", line);
        found = true;
        if (ours_only)
            break;
    }
    if (f != NULL)
        fclose(f);
    return found;
}

static int run_frame(const struct program_config *c, const struct place *p, const char *name,
                     const char *phase, char *const *env, struct process_tree *tree,
                     struct owners *owners)
{
    char form[8];
    snprintf(form, sizeof(form), "%s", c->is_short ? "short" : "full");
    char *const argv[] = {"/bin/sh", (char *)p->frame, (char *)name, (char *)phase,
                          form,      (char *)p->dir,   NULL};
    const int log_fd = open(p->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (log_fd < 0)
        return -errno;
    const int err = process_tree_run(tree, argv, env, log_fd, (unsigned)c->lab.timeout_s,
                                     owners != NULL ? look : NULL, owners);
    close(log_fd);
    return err;
}

/* "" when all is well. */
static void judge(int err, const struct process_tree *tree, const struct place *p,
                  const struct owners *owners, char *failure, size_t room)
{
    char line[400];

    failure[0] = '\0';
    if (err != 0)
        snprintf(failure, room, "%s", err == -ETIMEDOUT ? "took too long" : strerror(-err));
    else if (tree->status != 0 && read_log(p->log, false, line, sizeof(line)))
        snprintf(failure, room, "status %x: %s", (unsigned)tree->status, line);
    else if (tree->status != 0)
        snprintf(failure, room, "status %x", (unsigned)tree->status);
    else if (owners->failure[0] != '\0')
        snprintf(failure, room, "%s", owners->failure);
    else if (read_log(p->log, true, line, sizeof(line)))
        snprintf(failure, room, "the allocator says: %s", line);
    else if (tree->n_measured == 0)
        snprintf(failure, room, "no process was measured");
}

/* The shell and the load are not to run under the allocator: it is handed on under another name. */
static void hand_preload_on(char **env, char **handed)
{
    *handed = NULL;
    for (size_t i = 0; env[i] != NULL; i++) {
        if (strncmp(env[i], PRELOAD, strlen(PRELOAD)) != 0)
            continue;
        if (asprintf(handed, HANDED_PRELOAD "%s", env[i] + strlen(PRELOAD)) < 0)
            *handed = NULL;
        if (*handed != NULL) {
            free(env[i]);
            env[i] = *handed;
        }
    }
}

static void carry_out(const struct program_config *c, const struct place *p,
                      struct program_result *r)
{
    const struct lab_allocator *a = &c->lab.allocators[r->allocator_index];
    const struct program *program = &programs[r->program_index];
    struct process_tree tree;
    struct owners owners = {.config = c};
    char expected[PATH_MAX];
    char *handed;
    char **env = lab_allocator_environ(a);

    if (env == NULL) {
        snprintf(r->failure, sizeof(r->failure), "out of memory");
        return;
    }
    hand_preload_on(env, &handed);
    if (a->path != NULL && realpath(a->path, expected) != NULL)
        owners.expected = expected;
    const int err =
        run_frame(c, p, program->name, "run", env, &tree, r->round == 0 ? &owners : NULL);
    lab_environ_free(env);
    judge(err, &tree, p, &owners, r->failure, sizeof(r->failure));
    r->wall_ns = tree.wall_ns / program->n_starts;
    r->cpu_ns = tree.cpu_ns / program->n_starts;
    r->peak_bytes = tree.peak_bytes;
    r->n_measured = tree.n_measured;
    memcpy(r->peak_program, tree.peak_program, sizeof(r->peak_program));
}

static void remove_dir(const char *dir)
{
    char *const argv[] = {"/bin/rm", "-rf", "--", (char *)dir, NULL};
    pid_t pid;
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) == 0)
        (void)waitpid(pid, NULL, 0);
}

static int make_place(struct place *p, char *why, size_t room)
{
    const char *base = getenv("TMPDIR");

    if (places_find_helper(FRAME, p->frame, sizeof(p->frame)) != 0) {
        snprintf(why, room, "%s is not in this installation: install the whole of slub", FRAME);
        return -1;
    }
    snprintf(p->dir, sizeof(p->dir), "%s/slub-programs.XXXXXX",
             base != NULL && base[0] == '/' ? base : "/tmp");
    if (mkdtemp(p->dir) == NULL) {
        snprintf(why, room, "cannot make a directory in %s: %s", p->dir, strerror(errno));
        return -1;
    }
    snprintf(p->log, sizeof(p->log), "%s/run.log", p->dir);
    return 0;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void measure_rounds(struct program_run *run, size_t index, const struct place *p,
                           const char *failure, uint64_t *random)
{
    const struct program_config *c = run->config;
    const size_t n = c->lab.n_allocators;

    for (unsigned round = 0; round < c->lab.n_rounds; round++) {
        const size_t first = next_random(random) % n;
        for (size_t i = 0; i < n; i++) {
            struct program_result *r = &run->results[run->n_results++];
            r->program_index = index;
            r->allocator_index = (first + i) % n;
            r->round = round;
            if (isatty(STDERR_FILENO))
                fprintf(stderr, "\r%-20s %-20s", programs[index].name,
                        c->lab.allocators[r->allocator_index].label);
            if (failure[0] != '\0')
                snprintf(r->failure, sizeof(r->failure), "without preload: %.400s", failure);
            else
                carry_out(c, p, r);
        }
    }
}

/* The environment of the command without a preload: what the program answers by itself. */
static char **plain_environ(void)
{
    const struct lab_allocator linked = {.is_linked = true};
    return lab_allocator_environ(&linked);
}

static int measure_program(struct program_run *run, size_t index, uint64_t *random, char *why,
                           size_t room)
{
    struct place p;
    struct process_tree tree;
    const struct owners owners = {0};
    char failure[512] = "";

    if (make_place(&p, why, room) != 0)
        return -1;
    char **env = plain_environ();
    const int err =
        env == NULL ? -ENOMEM
                    : run_frame(run->config, &p, programs[index].name, "prepare", env, &tree, NULL);
    lab_environ_free(env);
    if (err == 0 && WIFEXITED(tree.status) && WEXITSTATUS(tree.status) == STATUS_SKIPPED) {
        snprintf(run->skipped[index], sizeof(run->skipped[index]), "cannot run here");
        (void)read_log(p.log, false, run->skipped[index], sizeof(run->skipped[index]));
    } else {
        judge(err, &tree, &p, &owners, failure, sizeof(failure));
        measure_rounds(run, index, &p, failure, random);
    }
    remove_dir(p.dir);
    return 0;
}

int program_run_measure(struct program_run *run, const struct program_config *config, char *why,
                        size_t room)
{
    const struct lab_config *c = &config->lab;
    uint64_t random = c->seed * 2 + 1; /* never zero */
    struct lab_clock clock;
    int err = 0;

    memset(run, 0, sizeof(*run));
    run->config = config;
    run->started_unix_s = (uint64_t)time(NULL);
    lab_clock_start(&clock);
    lab_machine_describe(&run->machine);
    run->results = calloc(n_programs * c->n_allocators * c->n_rounds, sizeof(run->results[0]));
    if (run->results == NULL) {
        snprintf(why, room, "out of memory");
        return -1;
    }
    for (size_t i = 0; i < n_programs && err == 0; i++) {
        if (config->chosen[i])
            err = measure_program(run, i, &random, why, room);
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%48s\r", "");
    run->tick_ns = lab_clock_tick_ns(&clock);
    return err;
}

void program_run_release(struct program_run *run)
{
    free(run->results);
    memset(run, 0, sizeof(*run));
}

static double value_of(const struct program_result *r, enum program_figure figure)
{
    switch (figure) {
    case PROGRAM_WALL:
        return (double)r->wall_ns;
    case PROGRAM_CPU:
        return (double)r->cpu_ns;
    default:
        return (double)r->peak_bytes;
    }
}

double program_run_value(const struct program_run *run, size_t program_index,
                         size_t allocator_index, enum program_figure figure)
{
    const bool is_time = figure != PROGRAM_PEAK;
    double values[100];
    size_t n = 0;
    struct lab_summary summary;

    for (size_t i = 0; i < run->n_results && n < sizeof(values) / sizeof(values[0]); i++) {
        const struct program_result *r = &run->results[i];
        if (r->program_index != program_index || r->allocator_index != allocator_index)
            continue;
        if (r->failure[0] != '\0')
            return 0;
        if (!is_time || r->round > 0 || run->config->lab.n_rounds == 1)
            values[n++] = value_of(r, figure);
    }
    lab_summarize(values, n, &summary);
    return is_time ? summary.min : summary.median;
}

bool program_run_has_failed(const struct program_run *run)
{
    for (size_t i = 0; i < run->n_results; i++) {
        if (run->results[i].failure[0] != '\0')
            return true;
    }
    return false;
}
