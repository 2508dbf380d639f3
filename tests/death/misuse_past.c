/* SPDX-License-Identifier: MIT */
/* Accesses behind the end of a large block that has a guard: row O5 of the scorecard. */
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "misuse.h"

enum { EXIT_WRONG_ANSWER = 14, GUARD_INSTALL = 102 };

/* Leave where the system has no guard regions. */
static void need_guards(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int ends[2];

    if (p == MAP_FAILED || pipe(ends) != 0)
        _exit(EXIT_WRONG_ANSWER);
    /* Emulators answer "done" to advice that they do not know. */
    if (madvise(p, page, GUARD_INSTALL) != 0 || write(ends[1], p, 1) == 1)
        _exit(EXIT_NO_GUARDS);
}

/* Use all of the block, then what lies behind it. */
static void go_past(char *p, int writes)
{
    size_t usable = malloc_usable_size(p);
    volatile char *end = (volatile char *)hide(p) + usable;

    memset(p, 1, usable);
    misuse_expect("none", p, usable);
    if (writes)
        *end = 1;
    else
        (void)*end;
}

static void past_write(size_t bytes)
{
    need_guards();
    go_past(malloc(bytes), 1);
}

static void past_read(size_t bytes)
{
    need_guards();
    go_past(malloc(bytes), 0);
}

static void past_aligned(size_t bytes)
{
    need_guards();
    go_past(memalign(1 << 20, bytes), 1);
}

static void past_grown(size_t bytes)
{
    char *p = malloc(bytes);

    need_guards();
    go_past(realloc(p, bytes + 300000), 1);
}

/* Another block lies behind, so this one moves. */
static void past_moved(size_t bytes)
{
    char *p = malloc(bytes), *behind = malloc(bytes);

    need_guards();
    memset(behind, 1, bytes);
    p = realloc(p, 2 * bytes);
    memset(behind, 2, bytes);
    go_past(p, 1);
}

static void past_shrunk(size_t bytes)
{
    char *p = malloc(bytes + 300000);

    need_guards();
    memset(p, 1, bytes + 300000);
    go_past(realloc(p, bytes), 1);
}

static void past_in_child(size_t bytes)
{
    char *p = malloc(bytes);
    int status;
    pid_t pid;

    need_guards();
    pid = fork();
    if (pid == 0) {
        go_past(p, 1);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        _exit(EXIT_WRONG_ANSWER);
    if (WIFSIGNALED(status))
        raise(WTERMSIG(status));
}

/* Where guards were, others write. */
static void past_reused(size_t bytes)
{
    char *a = malloc(bytes), *b = malloc(bytes), *fence = malloc(bytes), *whole;
    size_t usable;

    misuse_expect("none", NULL, 0);
    free(a);
    free(b);
    whole = malloc(2 * bytes);
    usable = malloc_usable_size(whole);
    memset(hide(whole), 1, usable);
    whole = realloc(whole, bytes + 1);
    a = malloc(bytes / 2);
    memset(hide(a), 2, bytes / 2);
    free(whole);
    free(fence);
    for (size_t n = bytes / 4; n < 4 * bytes; n += bytes / 2) {
        b = calloc(n, 1);
        if (b == NULL || b[0] != 0 || b[n - 1] != 0 || memcmp(b, b + 1, n - 1) != 0)
            _exit(EXIT_WRONG_ANSWER);
        memset(hide(b), 3, malloc_usable_size(b));
        free(b);
    }
    free(a);
}

const struct misuse misuse_past[] = {
    {"past-write", past_write},
    {"past-read", past_read},
    {"past-aligned", past_aligned},
    {"past-grown", past_grown},
    {"past-moved", past_moved},
    {"past-shrunk", past_shrunk},
    {"past-in-child", past_in_child},
    {"past-reused", past_reused},
    {NULL, NULL},
};
