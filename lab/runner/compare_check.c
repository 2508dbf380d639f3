/* SPDX-License-Identifier: MIT */
/* Owns the proof that a preload is active: the loader's own order, read in the process that is measured. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/compare_check.h"

#include "runner/process_tree.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct owners {
    struct compare_run *run;
    char expected[PATH_MAX];
    bool was_seen;   /* the program itself */
    char wrong[512]; /* why it is refused, or "" */
};

static pid_t parent_of(pid_t pid)
{
    char path[64];
    char text[512];
    int parent = -1;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return -1;
    const char *end = fgets(text, sizeof(text), f) != NULL ? strrchr(text, ')') : NULL;
    if (end == NULL || sscanf(end, ") %*c %d", &parent) != 1)
        parent = -1;
    fclose(f);
    return parent;
}

static void look(pid_t pid, void *context)
{
    struct owners *o = context;
    char owner[PATH_MAX] = "";
    char real[PATH_MAX];
    char reason[256] = "";
    const bool is_program = parent_of(pid) == getpid();

    o->run->n_processes++;
    const bool is_known = o->run->config->find_owner(pid, owner, sizeof(owner), reason, sizeof(reason)) == 0;
    if (is_program)
        o->was_seen = true;
    if (is_known && realpath(owner, real) != NULL && strcmp(real, o->expected) == 0)
        return;
    if (is_program && !is_known)
        snprintf(o->wrong, sizeof(o->wrong), "%s", reason);
    else if (is_program)
        snprintf(o->wrong, sizeof(o->wrong), "the program has its malloc from '%.200s'",
                 owner[0] != '\0' ? owner : "a file that cannot be told");
    if (is_program)
        return;
    o->run->n_strangers++;
    snprintf(o->run->stranger, sizeof(o->run->stranger), "%.200s", owner);
}

static char **marked(char *const *env)
{
    size_t n = 0;
    while (env[n] != NULL)
        n++;
    char **more = malloc((n + 2) * sizeof(more[0]));
    if (more != NULL) {
        memcpy(more, env, n * sizeof(more[0]));
        more[n] = PROCESS_TREE_MARK;
        more[n + 1] = NULL;
    }
    return more;
}

int compare_check_side(struct compare_run *run, const struct compare_side *side, const char *path, char *const *env,
                       char *why, size_t room)
{
    struct process_tree tree;
    struct owners o = {.run = run};
    char *argv[512] = {(char *)path};
    FILE *log = tmpfile();
    char **env_marked = marked(env);
    int err = log == NULL ? -errno : env_marked == NULL ? -ENOMEM : 0;

    for (size_t i = 1; side->argv[0] != NULL && side->argv[i] != NULL && i < 511; i++)
        argv[i] = side->argv[i];
    if (err == 0 && realpath(side->allocator->path, o.expected) == NULL)
        err = -errno;
    if (err == 0)
        err = process_tree_run(&tree, argv, env_marked, fileno(log), (unsigned)run->config->lab.timeout_s, look, &o);
    if (log != NULL)
        fclose(log);
    free(env_marked);
    if (err != 0)
        snprintf(why, room, "%s: cannot look into '%s' while it runs: %s", side->label, side->argv[0], strerror(-err));
    else if (o.wrong[0] != '\0')
        snprintf(why, room, "%s: %s, not from '%s': is it static, privileged or does it bring its own?", side->label,
                 o.wrong, side->allocator->path);
    else if (!o.was_seen)
        snprintf(why, room, "%s: '%s' ended before its malloc could be told (status %x)", side->label, side->argv[0],
                 (unsigned)tree.status);
    else
        return 0;
    return -1;
}
