/* SPDX-License-Identifier: MIT */
/* Another process from outside: which files it has mapped, which of them are slub, who owns its
 * malloc. */
#ifndef SLUB_CLI_PROCESS_VIEW_H
#define SLUB_CLI_PROCESS_VIEW_H

#include <limits.h>
#include <slub/stats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_MAX_SLUBS 4

/* One file that has the symbol slub_root. */
struct process_slub {
    char path[PATH_MAX];
    uint64_t root_address;
    struct slub_root root;
    bool defines_malloc; /* the drop-in, not the library alone */
    bool owns_malloc;    /* the first file in the loader's order that defines malloc is this one */
};

struct process_view {
    pid_t pid;
    char program[PATH_MAX];
    char malloc_owner[PATH_MAX]; /* "" when it cannot be told */
    struct process_slub slubs[PROCESS_MAX_SLUBS];
    size_t n_slubs;
};

/* 0, or -1 with one line in @why: no such process, or no right to look into it. A process without
 * slub is no failure: n_slubs is 0. */
int process_view_read(struct process_view *v, pid_t pid, char *why, size_t room);

/* The one that a report is about: the owner of malloc, or the first. NULL for none. */
const struct process_slub *process_view_slub(const struct process_view *v);

#endif
