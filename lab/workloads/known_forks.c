/* SPDX-License-Identifier: MIT */
/* Owns case 3: fork() while other threads are inside the allocator. The child must find no lock
 * held, and a fork may not become slow.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/known_cases.h"
#include "workloads/process_watch.h"
#include "workloads/rng.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_BUSY = 4, N_HELD = 64, MOST_FORKERS = 4 };

static atomic_bool must_stop;
static atomic_ulong n_forks, n_bad;

static void *allocate(void *arg)
{
    struct rng r = {.s = (uintptr_t)arg};
    void *held[N_HELD] = {0};

    while (!atomic_load(&must_stop)) {
        void **slot = &held[rng_below(&r, N_HELD)];

        free(*slot);
        *slot = malloc(rng_size(&r, 1, (size_t)200 * 1024));
    }
    for (int i = 0; i < N_HELD; i++)
        free(held[i]);
    return NULL;
}

static void *one_thread(void *unused)
{
    free(malloc(5000));
    return unused;
}

_Noreturn void known_fork_child(unsigned long number)
{
    pthread_t t;

    alarm(10);
    for (size_t i = 0; i < 200; i++)
        free(malloc(1 + i * 37));
    memset(malloc(300000), 1, 300000);
    setenv("KNOWN_FORKS_CHILD", "a value that must be copied somewhere", 1);
    if (number % 10 == 0) {
        const pid_t pid = fork();
        int status = 1;

        if (pid == 0) {
            alarm(10);
            free(malloc(70000));
            _exit(0);
        }
        waitpid(pid, &status, 0);
        if (status != 0)
            _exit(2);
    }
    if (number % 10 == 5) {
        if (pthread_create(&t, NULL, one_thread, NULL) != 0 || pthread_join(t, NULL) != 0)
            _exit(3);
    }
    _exit(0);
}

static void *fork_many(void *arg)
{
    const size_t n = *(const size_t *)arg;

    for (size_t i = 0; i < n; i++) {
        const unsigned long number = atomic_fetch_add(&n_forks, 1);
        const pid_t pid = fork();
        int status = 1;

        if (pid == 0)
            known_fork_child(number);
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            atomic_fetch_add(&n_bad, 1);
    }
    return NULL;
}

/* n_forkers threads fork n times each, four others allocate; 0 forkers: the main thread forks. */
static const char *busy_forks(int n_forkers, size_t n, uint64_t *figures)
{
    pthread_t busy[N_BUSY];
    pthread_t forkers[MOST_FORKERS];

    for (uintptr_t i = 0; i < N_BUSY; i++) {
        if (pthread_create(&busy[i], NULL, allocate, (void *)(i + 1)) != 0)
            return "pthread_create failed";
    }
    const double begin = watch_now_s();
    if (n_forkers == 0)
        fork_many(&n);
    for (int i = 0; i < n_forkers; i++) {
        if (pthread_create(&forkers[i], NULL, fork_many, &n) != 0)
            return "pthread_create failed";
    }
    for (int i = 0; i < n_forkers; i++)
        pthread_join(forkers[i], NULL);
    figures[0] = known_ns(watch_now_s() - begin) / atomic_load(&n_forks);
    figures[1] = atomic_load(&n_bad);
    atomic_store(&must_stop, true);
    for (int i = 0; i < N_BUSY; i++)
        pthread_join(busy[i], NULL);
    return NULL;
}

const char *known_forks(const struct known_form *form, uint64_t *figures)
{
    return busy_forks(0, known_count(form, 24, 1500), figures);
}

const char *known_forks_thread(const struct known_form *form, uint64_t *figures)
{
    return busy_forks(1, known_count(form, 12, 750), figures);
}

const char *known_forks_four(const struct known_form *form, uint64_t *figures)
{
    return busy_forks(4, known_count(form, 3, 188), figures);
}
