/* SPDX-License-Identifier: MIT */
/* Owns case 32: frees in exit handlers, in destructors of the program and of static objects, with a
 * thread that still allocates, in a child of fork, and after quick_exit().
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/known_cases.h"
#include "workloads/process_watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int __cxa_atexit(void (*fn)(void *), void *arg, void *dso);
extern void *__dso_handle;

static void **blocks;
static size_t n_blocks;
static bool is_ending;

static void free_some(size_t from)
{
    for (size_t i = from; i < n_blocks; i += 4)
        free(blocks[i]);
    free(memset(malloc(70000), 1, 70000));
}

static void at_exit_early(void)
{
    free_some(0);
    free(blocks);
    blocks = NULL;
}

static void at_exit_late(void)
{
    free_some(1);
}

static void on_exit_late(int status, void *arg)
{
    (void)status;
    (void)arg;
    free_some(2);
}

/* What the compiler emits for a static object of C++. */
static void static_object(void *arg)
{
    (void)arg;
    free_some(3);
}

__attribute__((destructor)) static void at_unload(void)
{
    for (size_t i = 0; is_ending && i < 1000; i++)
        free(malloc(i));
}

static void *still_allocating(void *unused)
{
    for (size_t i = 1;; i = i * 5 % 70001 + 1)
        free(malloc(i));
    return unused;
}

_Noreturn void known_end_program(const char *how, size_t n, uint64_t *began_ns)
{
    pthread_t t;

    is_ending = true;
    /* The first handler is there before the first block of the program. */
    atexit(at_exit_early);
    n_blocks = n;
    blocks = malloc(n * sizeof(*blocks));
    for (size_t i = 0; i < n; i++)
        blocks[i] = malloc(16 + i % 500);
    atexit(at_exit_late);
    on_exit(on_exit_late, NULL);
    __cxa_atexit(static_object, NULL, &__dso_handle);
    at_quick_exit(at_exit_late);
    if (began_ns != NULL)
        *began_ns = known_ns(watch_now_s());
    if (strcmp(how, "thread") == 0)
        pthread_create(&t, NULL, still_allocating, NULL);
    if (strcmp(how, "fork") == 0) {
        const pid_t pid = fork();
        int status = 1;

        if (pid == 0)
            exit(0);
        waitpid(pid, &status, 0);
        if (status != 0)
            _exit(9);
    }
    if (strcmp(how, "quick") == 0)
        quick_exit(0);
    exit(0);
}

const char *known_exit(const struct known_form *form, uint64_t *figures)
{
    static const char *const ways[] = {"plain", "thread", "fork", "quick"};
    const size_t n = known_count(form, 200000, 1000000);
    uint64_t *began_ns =
        mmap(NULL, sizeof(*began_ns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (began_ns == MAP_FAILED)
        return "no memory that processes share";
    figures[0] = figures[1] = 0;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        int status = 1;
        const pid_t pid = fork();

        if (pid == 0)
            known_end_program(ways[i], n, began_ns);
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            return "fork failed";
        const uint64_t took_ns = known_ns(watch_now_s()) - *began_ns;
        figures[0] = took_ns > figures[0] ? took_ns : figures[0];
        figures[1] += status != 0;
    }
    return NULL;
}
