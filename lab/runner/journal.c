/* SPDX-License-Identifier: MIT */
/* Owns the file of samples; see journal.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int write_line(int fd, const json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
    char *whole = NULL;
    int err = text == NULL ? -ENOMEM : 0;

    if (err == 0) {
        const int n = asprintf(&whole, "%s\n", text);
        err = n < 0 ? -ENOMEM : write(fd, whole, (size_t)n) == n ? 0 : -EIO;
    }
    free(whole);
    free(text);
    return err;
}

static int check_key(const char *line, const char *key)
{
    json_t *head = json_loads(line, 0, NULL);
    const char *found = json_string_value(json_object_get(head, "slub-journal"));
    const int err = found != NULL && strcmp(found, key) == 0 ? 0 : -EEXIST;
    json_decref(head);
    return err;
}

/* Where whole lines end: what follows was being written when the run was killed. */
static int read_lines(FILE *f, const char *key, off_t *end, int (*take)(const json_t *line, void *context),
                      void *context)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int err = 0;

    *end = 0;
    while (err == 0 && (n = getline(&line, &room, f)) > 0 && line[n - 1] == '\n') {
        if (*end == 0) {
            err = check_key(line, key);
        } else {
            json_t *sample = json_loads(line, 0, NULL);
            err = sample == NULL ? -EEXIST : take(sample, context);
            json_decref(sample);
        }
        *end += n;
    }
    free(line);
    return err;
}

static int start(int fd, const char *key)
{
    json_t *head = json_pack("{s:s}", "slub-journal", key);
    const int err = head == NULL ? -ENOMEM : ftruncate(fd, 0) != 0 ? -errno : write_line(fd, head);
    json_decref(head);
    return err;
}

int journal_open(struct journal *j, const char *path, const char *key, int (*take)(const json_t *line, void *context),
                 void *context)
{
    off_t end = 0;
    int err = 0;

    snprintf(j->path, sizeof(j->path), "%s", path);
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (j->fd < 0)
        return -errno;
    if (flock(j->fd, LOCK_EX | LOCK_NB) != 0)
        err = -errno;
    const int copy = err == 0 ? dup(j->fd) : -1;
    FILE *f = copy >= 0 ? fdopen(copy, "r") : NULL;
    if (err == 0 && f == NULL)
        err = -errno;
    if (err == 0)
        err = read_lines(f, key, &end, take, context);
    if (f != NULL)
        fclose(f);
    if (err == 0)
        err = end == 0 ? start(j->fd, key) : ftruncate(j->fd, end) != 0 ? -errno : 0;
    if (err != 0) {
        close(j->fd);
        j->fd = -1;
    }
    return err;
}

int journal_append(struct journal *j, const json_t *line)
{
    return j->fd < 0 ? 0 : write_line(j->fd, line);
}

void journal_close(struct journal *j, int is_complete)
{
    if (j->fd < 0)
        return;
    if (is_complete)
        unlink(j->path);
    close(j->fd);
    j->fd = -1;
}
