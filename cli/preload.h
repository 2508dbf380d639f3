/* SPDX-License-Identifier: MIT */
/* Running a program on the drop-in malloc: which file that is, whether the program can take it, and
 * the environment that brings it. */
#ifndef SLUB_CLI_PRELOAD_H
#define SLUB_CLI_PRELOAD_H

#include <limits.h>

struct preload {
    const char *command;  /* of messages: "run" */
    const char *mode;     /* NULL: what the options say, or "default" */
    const char *options;  /* NULL: none */
    const char *slabinfo; /* NULL: no table; else "stderr" or a file */
};

/* Finds @program as execvp(3) does and checks that a preload reaches it; then sets LD_PRELOAD and
 * SLUB_OPTIONS of this process. Returns CLI_DONE with the file to execute in @path, or prints one
 * line and returns the status. */
int preload_prepare(const struct preload *p, const char *program, char path[PATH_MAX]);

#endif
