/* SPDX-License-Identifier: MIT */
/* One sample: a command in a fresh process, what it cost, what it printed.
 *
 * What moves memory without being the thing measured is drawn anew for every sample: the size of the environment and
 * the length of the program's path, which shift the stack; the kernel places stack, heap and libraries by itself.
 */
#ifndef SLUB_LAB_SAMPLE_H
#define SLUB_LAB_SAMPLE_H

#include "workloads/rng.h"
#include "workloads/start_report.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How and where samples are taken; one for a whole run. */
struct sample_site {
    char starter[PATH_MAX];
    char dir[PATH_MAX]; /* of our own, for output and links to programs */
    char cpus[512];     /* "-" or "0,1": as the starter takes it */
    unsigned timeout_s;
};

struct sample_result {
    struct start_report report;
    unsigned environment_pad; /* bytes */
    unsigned path_pad;        /* bytes; 0 for a script, which may look at its own name */
    char *output;             /* what it wrote to both; owned */
};

/* @cpus: NULL for all. 0, or -1 with one line. */
int sample_site_open(struct sample_site *site, const char *cpus, unsigned timeout_s, char *why, size_t room);
void sample_site_close(struct sample_site *site);

/* Absolute path of argv[0], as execvp() would find it. 0 or a negative errno. */
int sample_find_program(const char *name, char path[PATH_MAX]);

/* Exit status of a program that cannot run here, for something is not installed; its last line says what. */
#define SAMPLE_CANNOT_RUN 77

/* Runs @path. 0 when it ended with status 0; else -1 with one line, -ENOTSUP with the last line of a program that
 * cannot run here, or -EINTR when sample_interrupt() was called. Release in every case. */
int sample_take(const struct sample_site *site, const char *path, char *const *argv, char *const *env, struct rng *rng,
                struct sample_result *out, char *why, size_t room);
void sample_release(struct sample_result *out);

/* Ends the process under way, and every later one at its start. Async-signal-safe. */
void sample_interrupt(void);
bool sample_is_interrupted(void);

#endif
