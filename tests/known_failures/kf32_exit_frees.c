/* SPDX-License-Identifier: MIT */
/* Case 32: frees in exit handlers, in destructors of the program and of static objects, with a
 * thread that still allocates, in a child of fork, and after quick_exit(). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testkit.h"

int __cxa_atexit(void (*fn)(void *), void *arg, void *dso);
extern void *__dso_handle;

static void **blocks;
static size_t n_blocks;
static bool is_case;

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
    if (!is_case)
        return;
    for (int i = 0; i < 1000; i++)
        free(malloc((size_t)i));
}

static void *still_allocating(void *unused)
{
    for (size_t i = 1;; i = i * 5 % 70001 + 1)
        free(malloc(i));
    return unused;
}

static void end_of_program(const char *how)
{
    pthread_t t;

    is_case = true;
    /* The first handler is there before the first block of the program. */
    atexit(at_exit_early);
    n_blocks = (size_t)strtoul(getenv("KF32_BLOCKS"), NULL, 10);
    blocks = malloc(n_blocks * sizeof *blocks);
    for (size_t i = 0; i < n_blocks; i++)
        blocks[i] = malloc(16 + i % 500);
    atexit(at_exit_late);
    on_exit(on_exit_late, NULL);
    __cxa_atexit(static_object, NULL, &__dso_handle);
    at_quick_exit(at_exit_late);
    if (strcmp(how, "thread") == 0)
        pthread_create(&t, NULL, still_allocating, NULL);
    if (strcmp(how, "fork") == 0) {
        pid_t pid = fork();
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

int main(int argc, char **argv)
{
    static const char *const ways[] = {"plain", "thread", "fork", "quick"};
    static char count[64];

    if (argc > 2 && strcmp(argv[1], "end") == 0)
        end_of_program(argv[2]);
    tk_init("kf32", "frees while exiting", argc, argv);
    snprintf(count, sizeof count, "KF32_BLOCKS=%zu", tk_count(200000, 1000000));
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const char *const again[] = {tk_self(), "end", ways[i], NULL};
        const char *const env[] = {count, NULL};
        struct tk_exec e = {.argv = again, .env = env, .limit_s = 60};
        double begin = tk_now();

        tk_run(&e);
        tk_check(e.status == 0, "%s: %s", ways[i], tk_status_text(e.status));
        tk_check(e.n_out == 0, "%s: printed %s", ways[i], e.out);
        tk_check(tk_now() - begin < 20, "%s: %.1f s", ways[i], tk_now() - begin);
        tk_note("%s %.2f s", ways[i], tk_now() - begin);
    }
    return tk_finish();
}
