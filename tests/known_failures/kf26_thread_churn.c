/* SPDX-License-Identifier: MIT */
/* Case 26: many short-lived threads. Neither memory nor mappings may grow with the dead, and a
 * thread may not cost a storm of mappings. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oswatch.h"
#include "rng.h"
#include "testkit.h"

enum { ALIVE = 64, WARM_UP = 1500 };
enum end { JOINED, DETACHED, CANCELLED };

static atomic_uint n_alive;
static enum end how;

static void *short_life(void *arg)
{
    struct rng r = {.s = (uintptr_t)arg};
    size_t bytes = rng_size(&r, 4096, 1 << 20);
    char *p = malloc(bytes);

    memset(p, 1, 4096);
    p = realloc(p, 2 * bytes);
    p[2 * bytes - 1] = 1;
    free(malloc(100));
    free(p);
    atomic_fetch_sub(&n_alive, 1);
    if (how == CANCELLED)
        for (;;)
            pause();
    return NULL;
}

static bool start(pthread_t *t, size_t number)
{
    pthread_attr_t attr;
    int err;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 * 1024);
    if (how == DETACHED)
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    atomic_fetch_add(&n_alive, 1);
    err = pthread_create(t, &attr, short_life, (void *)number);
    pthread_attr_destroy(&attr);
    return tk_check(err == 0, "pthread_create: error %d", err);
}

/* `n` threads, up to 64 of them at once. */
static void run_threads(size_t n)
{
    pthread_t threads[ALIVE];

    for (size_t done = 0; done < n; done += ALIVE) {
        size_t batch = n - done < ALIVE ? n - done : ALIVE;

        for (size_t i = 0; i < batch; i++)
            if (!start(&threads[i], done + i + 1))
                return;
        while (atomic_load(&n_alive) > 0)
            tk_sleep(0.0002);
        for (size_t i = 0; i < batch && how != DETACHED; i++) {
            if (how == CANCELLED)
                pthread_cancel(threads[i]);
            pthread_join(threads[i], NULL);
        }
    }
    /* Detached threads still have their last steps to go. */
    if (how == DETACHED)
        tk_sleep(0.05);
}

/* What an allocator keeps within its bounds comes and goes; what it cannot give back is what leaks.
 */
static size_t settled_rss(void)
{
    malloc_trim(0);
    return tk_rss();
}

static void churn(void *arg)
{
    static const char *const names[] = {"joined", "detached", "cancelled"};
    size_t n, first, last, maps;
    double grown;
    long more_maps;

    how = *(const enum end *)arg;
    n = tk_count(3000, how == JOINED ? 100000 : 30000);
    run_threads(WARM_UP);
    first = settled_rss();
    maps = tk_maps();
    run_threads(n - WARM_UP);
    last = settled_rss();
    grown = ((double)last - (double)first) / TK_MIB;
    more_maps = (long)tk_maps() - (long)maps;
    tk_note("%s %.1f to %.1f MiB %+ld maps", names[how], (double)first / TK_MIB,
            (double)last / TK_MIB, more_maps);
    tk_check(grown <= 2, "%s: RSS grew by %.2f MiB over %zu threads", names[how], grown, n);
    /* Stacks of threads that take long to end are libc's; a mapping lost per thread would be a
     * thousand. */
    tk_check(more_maps <= 4 * ALIVE, "%s: %ld more lines in maps", names[how], more_maps);
}

static void *after_main(void *unused)
{
    tk_sleep(0.02);
    for (int i = 0; i < 1000; i++)
        free(malloc((size_t)i * 97));
    return unused;
}

static void main_leaves(void *unused)
{
    pthread_t t;

    (void)unused;
    for (int i = 0; i < 8; i++)
        pthread_create(&t, NULL, after_main, NULL);
    free(malloc(100));
    pthread_exit(NULL);
}

static void *small_life(void *unused)
{
    free(memset(malloc(3000), 1, 3000));
    free(malloc(100));
    return unused;
}

static void storm(void *unused)
{
    const size_t n = tk_count(300, 3000);
    const char *why;
    pthread_t t;
    double each;

    (void)unused;
    if (!oswatch_start(&why)) {
        tk_note("mappings not counted, %s", why);
        return;
    }
    for (size_t i = 0; i < n + 20; i++) {
        if (i == 20)
            oswatch_fail(0, false); /* the first threads fill caches: count from here */
        if (pthread_create(&t, NULL, small_life, NULL) == 0)
            pthread_join(t, NULL);
    }
    each = (double)oswatch_calls() / (double)n;
    tk_note("%.2f mapping calls per thread", each);
    tk_check(each <= 4.0, "%.2f mapping calls per thread", each);
}

int main(int argc, char **argv)
{
    tk_init("kf26", "short-lived threads", argc, argv);
    for (enum end e = JOINED; e <= CANCELLED; e++)
        tk_child("churn", churn, &e, 300);
    tk_child("pthread_exit in main", main_leaves, NULL, 30);
    tk_child("mappings", storm, NULL, 60);
    return tk_finish();
}
