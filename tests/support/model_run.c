/* SPDX-License-Identifier: MIT */
/* One run of the model: starts and replaces the workers, ends them, and holds the live blocks
 * against each other. Contract: model.h. Its own tables come from mmap, so that the heap holds the
 * model's blocks only. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model_private.h"
#include "testkit.h"

static void *pages(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static void *work(void *arg)
{
    struct model_worker *w = arg;
    uint64_t left = w->run->config->churn ? 500 + rng_below(&w->rng, 4000) : UINT64_MAX;

    while (left-- > 0 && !atomic_load_explicit(&w->run->must_stop, memory_order_relaxed))
        model_step(w);
    atomic_store(&w->is_over, true);
    return NULL;
}

static bool start(struct model_worker *w)
{
    pthread_attr_t attr;
    int err;

    atomic_store(&w->is_over, false);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    err = pthread_create(&w->thread, &attr, work, w);
    pthread_attr_destroy(&attr);
    if (err != 0) {
        struct model_block none = {0};
        model_fail(w->run, &none, "pthread_create: error", (size_t)err);
    }
    w->is_running = err == 0;
    return w->is_running;
}

static int by_address(const void *a, const void *b)
{
    const struct model_block *x = a, *y = b;

    return x->p < y->p ? -1 : x->p > y->p;
}

/* Every live block, in order of address: no two may touch. */
static void check_overlap(struct model_run *run)
{
    size_t most = (size_t)run->config->n_threads * run->n_slots + MODEL_EXCHANGES, n = 0;
    struct model_block *all = pages(most * sizeof *all);

    if (all == NULL)
        return;
    for (unsigned t = 0; t < run->config->n_threads; t++)
        for (unsigned i = 0; i < run->n_slots; i++)
            if (run->workers[t].blocks[i].p != NULL)
                all[n++] = run->workers[t].blocks[i];
    for (unsigned i = 0; i < MODEL_EXCHANGES; i++)
        if (run->exchanges[i].block.p != NULL)
            all[n++] = run->exchanges[i].block;
    qsort(all, n, sizeof *all, by_address);
    for (size_t i = 1; i < n; i++)
        if (all[i - 1].p + all[i - 1].usable > all[i].p)
            model_fail(run, &all[i], "two live blocks overlap", (size_t)(all[i].p - all[i - 1].p));
    munmap(all, most * sizeof *all);
}

/* Each millisecond: storms, and successors for workers that ended. */
static uint64_t conduct(struct model_run *run, double end)
{
    const struct model_config *c = run->config;
    bool is_busy = c->signals || c->moves || c->churn;
    struct rng r = {.s = c->seed ^ 0x5707u};
    uint64_t n_made = 0;

    while (tk_now() < end && !atomic_load(&run->must_stop)) {
        for (unsigned t = 0; t < c->n_threads; t++) {
            struct model_worker *w = &run->workers[t];

            if (w->is_running && atomic_load(&w->is_over)) {
                pthread_join(w->thread, NULL);
                w->is_running = false;
                n_made += start(w);
            }
            if (w->is_running)
                model_storm_tick(w, &r);
        }
        tk_sleep(is_busy ? 0.001 : 0.02);
    }
    atomic_store(&run->must_stop, true);
    return n_made;
}

static bool prepare(struct model_run *run, const struct model_config *config)
{
    run->config = config;
    run->max_bytes = config->max_bytes != 0 ? config->max_bytes : 1024 * 1024;
    run->n_slots = config->n_slots != 0 ? config->n_slots : 192;
    for (unsigned i = 0; i < MODEL_EXCHANGES; i++)
        pthread_mutex_init(&run->exchanges[i].lock, NULL);
    run->workers = pages(config->n_threads * sizeof *run->workers);
    for (unsigned t = 0; run->workers != NULL && t < config->n_threads; t++) {
        struct model_worker *w = &run->workers[t];

        w->run = run;
        w->index = t;
        w->rng.s = config->seed * 0x9e3779b97f4a7c15u + t;
        w->blocks = pages(run->n_slots * sizeof *w->blocks);
        if (w->blocks == NULL)
            return false;
    }
    return run->workers != NULL;
}

bool model_run(const struct model_config *config, struct model_result *result)
{
    struct model_run *run = pages(sizeof *run);
    double end = tk_now() + config->seconds;
    bool ok;

    memset(result, 0, sizeof *result);
    if (run == NULL || !prepare(run, config))
        return false;
    model_storm_begin(config);
    for (unsigned t = 0; t < config->n_threads; t++)
        result->n_threads_made += start(&run->workers[t]);
    result->n_threads_made += conduct(run, end);
    for (unsigned t = 0; t < config->n_threads; t++)
        if (run->workers[t].is_running)
            pthread_join(run->workers[t].thread, NULL);
    result->n_signals = model_storm_end(config);

    check_overlap(run);
    for (unsigned i = 0; i < MODEL_EXCHANGES; i++)
        model_drop(&run->workers[0], &run->exchanges[i].block);
    for (unsigned t = 0; t < config->n_threads; t++) {
        struct model_worker *w = &run->workers[t];

        for (unsigned i = 0; i < run->n_slots; i++)
            model_drop(w, &w->blocks[i]);
        result->n_ops += atomic_load(&w->n_ops);
        result->n_forks += atomic_load(&w->n_forks);
        munmap(w->blocks, run->n_slots * sizeof *w->blocks);
    }
    ok = !atomic_load(&run->has_failed);
    munmap(run->workers, config->n_threads * sizeof *run->workers);
    munmap(run, sizeof *run);
    return ok;
}
