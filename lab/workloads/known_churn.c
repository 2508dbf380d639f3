/* SPDX-License-Identifier: MIT */
/* Owns case 26: many short-lived threads. Neither memory nor mappings may grow with the dead. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/known_cases.h"
#include "workloads/process_watch.h"
#include "workloads/rng.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIVE = 64, WARM_UP = 1500 };
enum end { JOINED, DETACHED, CANCELLED };

static atomic_uint n_alive;
static enum end how;

static void *short_life(void *arg)
{
    struct rng r = {.s = (uintptr_t)arg};
    const size_t bytes = rng_size(&r, 4096, 1 << 20);
    char *p = malloc(bytes);

    memset(p, 1, 4096);
    p = realloc(p, 2 * bytes);
    p[2 * bytes - 1] = 1;
    free(malloc(100));
    free(p);
    atomic_fetch_sub(&n_alive, 1);
    while (how == CANCELLED)
        pause();
    return NULL;
}

static bool start(pthread_t *t, size_t number)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)64 * 1024);
    if (how == DETACHED)
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    atomic_fetch_add(&n_alive, 1);
    const int err = pthread_create(t, &attr, short_life, (void *)number);
    pthread_attr_destroy(&attr);
    return err == 0;
}

/* n threads, up to 64 of them at once. */
static bool run_threads(size_t n)
{
    pthread_t threads[ALIVE];

    for (size_t done = 0; done < n; done += ALIVE) {
        const size_t batch = n - done < ALIVE ? n - done : ALIVE;

        for (size_t i = 0; i < batch; i++) {
            if (!start(&threads[i], done + i + 1))
                return false;
        }
        while (atomic_load(&n_alive) > 0)
            watch_sleep_s(0.0002);
        for (size_t i = 0; i < batch && how != DETACHED; i++) {
            if (how == CANCELLED)
                pthread_cancel(threads[i]);
            pthread_join(threads[i], NULL);
        }
    }
    /* Detached threads still have their last steps to go. */
    if (how == DETACHED)
        watch_sleep_s(0.05);
    return true;
}

/* What an allocator keeps within its bounds comes and goes; what it cannot give back leaks. */
static size_t settled_rss(void)
{
    malloc_trim(0);
    return watch_rss_bytes();
}

static const char *churn(enum end e, size_t n, uint64_t *figures)
{
    how = e;
    if (!run_threads(WARM_UP))
        return "pthread_create failed";
    const size_t rss = settled_rss();
    const size_t maps = watch_n_maps();
    if (!run_threads(n - WARM_UP))
        return "pthread_create failed";
    figures[0] = known_growth(rss, settled_rss());
    /* Stacks of threads that take long to end are libc's; a mapping lost per thread would be
     * thousands. */
    figures[1] = known_growth(maps, watch_n_maps());
    return NULL;
}

const char *known_churn(const struct known_form *form, uint64_t *figures)
{
    return churn(JOINED, known_count(form, 3000, 100000), figures);
}

const char *known_churn_detached(const struct known_form *form, uint64_t *figures)
{
    return churn(DETACHED, known_count(form, 3000, 30000), figures);
}

const char *known_churn_cancelled(const struct known_form *form, uint64_t *figures)
{
    return churn(CANCELLED, known_count(form, 3000, 30000), figures);
}
