/* SPDX-License-Identifier: MIT */
/* The samples of a run in a file, a line each, written as they are taken: what a killed run leaves to its successor.
 *
 * The first line is a key that says what was being measured; a file with another key is not resumed. A line that was
 * not finished is not read.
 */
#ifndef SLUB_LAB_JOURNAL_H
#define SLUB_LAB_JOURNAL_H

#include <jansson.h>
#include <limits.h>
#include <stddef.h>

struct journal {
    int fd; /* -1: none is kept */
    char path[PATH_MAX];
};

/* Opens or makes @path and hands every line that is there to @take. Another run's journal, or one that is no journal,
 * is -EEXIST and stays as it is. 0 or a negative errno; one process at a time may have it open: -EWOULDBLOCK. */
int journal_open(struct journal *j, const char *path, const char *key, int (*take)(const json_t *line, void *context),
                 void *context);

/* One write of a whole line; @line stays the caller's. 0 or a negative errno. */
int journal_append(struct journal *j, const json_t *line);

/* Closes; a run that is complete needs no journal any more. */
void journal_close(struct journal *j, int is_complete);

#endif
