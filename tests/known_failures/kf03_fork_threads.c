/* SPDX-License-Identifier: MIT */
/* Case 3: fork() while other threads are inside the allocator. The child must find no lock held. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rng.h"
#include "testkit.h"

static atomic_bool must_stop;
static atomic_ulong n_forks, n_bad;

static void *allocate(void *arg)
{
    struct rng r = {.s = (uintptr_t)arg};
    void *held[64] = {0};

    while (!atomic_load(&must_stop)) {
        void **slot = &held[rng_below(&r, 64)];

        free(*slot);
        *slot = malloc(rng_size(&r, 1, 200 * 1024));
    }
    for (int i = 0; i < 64; i++)
        free(held[i]);
    return NULL;
}

static void *one_thread(void *unused)
{
    free(malloc(5000));
    return unused;
}

static void child(unsigned long number)
{
    pthread_t t;

    alarm(10);
    for (size_t i = 0; i < 200; i++)
        free(malloc(1 + i * 37));
    memset(malloc(300000), 1, 300000);
    setenv("KF03_CHILD", "a value that must be copied somewhere", 1);
    if (number % 10 == 0) {
        pid_t pid = fork();
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
    size_t n = *(const size_t *)arg;

    for (size_t i = 0; i < n; i++) {
        unsigned long number = atomic_fetch_add(&n_forks, 1);
        pid_t pid = fork();
        int status = 0;

        if (pid == 0)
            child(number);
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
            atomic_fetch_add(&n_bad, 1);
            tk_check(false, "child %lu: %s", number, pid < 0 ? "no fork" : tk_status_text(status));
        }
    }
    return NULL;
}

/* `n_forkers` threads fork, four others allocate; 0 forkers: the main thread forks. */
static void busy_forks(int n_forkers, size_t n, const char *name)
{
    pthread_t busy[4], forkers[4];
    double begin = tk_now(), each_ms;

    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&busy[i], NULL, allocate, (void *)(i + 1));
    if (n_forkers == 0)
        fork_many(&n);
    for (int i = 0; i < n_forkers; i++)
        pthread_create(&forkers[i], NULL, fork_many, &n);
    for (int i = 0; i < n_forkers; i++)
        pthread_join(forkers[i], NULL);
    atomic_store(&must_stop, true);
    for (int i = 0; i < 4; i++)
        pthread_join(busy[i], NULL);
    each_ms = (tk_now() - begin) * 1e3 / (double)atomic_load(&n_forks);
    tk_note("%s %lu forks %lu bad %.1f ms each", name, atomic_load(&n_forks), atomic_load(&n_bad),
            each_ms);
    /* 27 ms is what glibc takes; 20 times that is a gross slowdown on any machine. */
    tk_check(each_ms < 27 * 20, "%s: %.1f ms per fork", name, each_ms);
}

static void from_main(void *n)
{
    busy_forks(0, *(size_t *)n, "main");
}

static void from_thread(void *n)
{
    busy_forks(1, *(size_t *)n / 2, "one thread");
}

static void from_four(void *n)
{
    busy_forks(4, *(size_t *)n / 8, "four threads");
}

static void *first_malloc(void *barrier)
{
    pthread_barrier_wait(barrier);
    free(malloc(1000));
    return NULL;
}

/* In a fresh process: fork against the first malloc of another thread. */
static int first_events(void)
{
    pthread_barrier_t barrier;
    pthread_t t;
    pid_t pid;
    int status = 1;

    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&t, NULL, first_malloc, &barrier);
    pthread_barrier_wait(&barrier);
    pid = fork();
    if (pid == 0)
        child(0);
    waitpid(pid, &status, 0);
    pthread_join(t, NULL);
    return status != 0;
}

int main(int argc, char **argv)
{
    size_t n;

    if (argc > 1 && strcmp(argv[1], "first") == 0)
        return first_events();
    tk_init("kf03", "fork among busy threads", argc, argv);
    n = tk_count(24, 1500);
    tk_child("main forks", from_main, &n, 300);
    tk_child("a thread forks", from_thread, &n, 300);
    tk_child("four threads fork", from_four, &n, 300);
    for (size_t i = 0; i < tk_count(6, 200); i++) {
        const char *const again[] = {tk_self(), "first", NULL};
        struct tk_exec e = {.argv = again, .limit_s = 20};

        tk_run(&e);
        tk_check(e.status == 0, "fork as a first event: %s", tk_status_text(e.status));
    }
    return tk_finish();
}
