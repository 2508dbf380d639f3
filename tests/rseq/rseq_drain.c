/* SPDX-License-Identifier: MIT */
/* Slots of running CPUs are emptied while they are used: some threads allocate and free in caches that another
 * one shrinks, trims, and tries to destroy; and caches come and go beside them, watched by snapshots. */
#include <errno.h>
#include <pthread.h>
#include <slub/slub.h>
#include <slub/stats.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cache/init.h"
#include "percpu/percpu.h"
#include "rng.h"
#include "stamp.h"
#include "testkit.h"

enum { WORKERS = 6, CACHES = 4, KEPT = 80 };

static const size_t sizes[CACHES] = {32, 96, 480, 4096};
static struct slub_cache *caches[CACHES];
static atomic_bool stop;
static atomic_ulong n_rounds, n_drains, n_destroyed, n_snapshots;

static void *work(void *arg)
{
    struct rng r = {tk_seed() + (uintptr_t)arg};
    static const uint64_t base = 1000000;
    void *kept[CACHES][KEPT];
    size_t n[CACHES] = {0};
    uint64_t id = (uintptr_t)arg * base;
    uint64_t ids[CACHES][KEPT];
    while (!atomic_load(&stop)) {
        unsigned c = (unsigned)rng_below(&r, CACHES);
        size_t k = rng_below(&r, KEPT - n[c] + 1);
        if (rng_below(&r, 4) == 0) {
            size_t got = slub_cache_alloc_bulk(caches[c], 0, k, kept[c] + n[c]);
            tk_check(got == k, "out of memory");
            k = got;
        } else {
            for (size_t i = 0; i < k; i++)
                kept[c][n[c] + i] = slub_cache_alloc(caches[c], 0);
        }
        for (size_t i = 0; i < k; i++) {
            ids[c][n[c] + i] = ++id;
            stamp_fill(kept[c][n[c] + i], sizes[c], id);
        }
        n[c] += k;
        c = (unsigned)rng_below(&r, CACHES);
        for (k = rng_below(&r, n[c] + 1); k > 0; k--) {
            n[c]--;
            if (stamp_first_bad(kept[c][n[c]], sizes[c], ids[c][n[c]]) != sizes[c])
                tk_check(false, "an object of %zu bytes has two owners", sizes[c]);
            if (k % 2 == 0)
                slub_free(kept[c][n[c]]);
            else
                slub_cache_free(caches[c], kept[c][n[c]]);
        }
        atomic_fetch_add(&n_rounds, 1);
    }
    for (unsigned c = 0; c < CACHES; c++)
        slub_cache_free_bulk(caches[c], n[c], kept[c]);
    return NULL;
}

/* An object of each keeps the caches busy, so that destroying them is refused. */
static void *drain(void *arg)
{
    struct rng r = {tk_seed() + (uintptr_t)arg};
    void *own[CACHES];
    for (unsigned c = 0; c < CACHES; c++)
        own[c] = slub_cache_alloc(caches[c], 0);
    while (!atomic_load(&stop)) {
        unsigned c = (unsigned)rng_below(&r, CACHES);
        switch (rng_below(&r, 8)) {
        case 0:
            init_trim();
            break;
        case 1:
            tk_check(slub_cache_destroy(caches[c]) == -EBUSY, "a cache in use was destroyed");
            break;
        default:
            slub_cache_shrink(caches[c]);
        }
        atomic_fetch_add(&n_drains, 1);
    }
    for (unsigned c = 0; c < CACHES; c++)
        slub_cache_free(caches[c], own[c]);
    return NULL;
}

static void *create_and_destroy(void *arg)
{
    struct rng r = {tk_seed() + (uintptr_t)arg};
    while (!atomic_load(&stop)) {
        void *p[64];
        size_t size = rng_size(&r, 8, 3000), k = rng_below(&r, 64);
        struct slub_cache *c = slub_cache_create("passing", size, NULL, 0);
        if (!tk_check(c != NULL, "no cache"))
            break;
        for (size_t i = 0; i < k; i++)
            stamp_fill(p[i] = slub_cache_zalloc(c), size, i);
        for (size_t i = 0; i < k; i++) {
            tk_check(stamp_first_bad(p[i], size, i) == size, "an object of a passing cache has two owners");
            slub_cache_free(c, p[i]);
        }
        tk_check(slub_cache_destroy(c) == 0, "a cache without objects is busy");
        atomic_fetch_add(&n_destroyed, 1);
    }
    return NULL;
}

/* Numbers need not be exact now, but possible. */
static void *watch(void *arg)
{
    static struct slub_cache_info ci[128];
    (void)arg;
    while (!atomic_load(&stop)) {
        struct slub_info info = {.size = sizeof info};
        for (size_t i = 0; i < 128; i++)
            ci[i].size = sizeof ci[i];
        int n = slub_snapshot(&info, ci, 128);
        for (int i = 0; i < n && i < 128; i++)
            tk_check(ci[i].objects_live < 1u << 20 && ci[i].objects_cached < 1u << 20 && ci[i].slabs < 1u << 20,
                     "%s: %llu live, %llu cached", ci[i].name, (unsigned long long)ci[i].objects_live,
                     (unsigned long long)ci[i].objects_cached);
        atomic_fetch_add(&n_snapshots, 1);
    }
    return NULL;
}

static void storm(void *unused)
{
    pthread_t t[WORKERS + 4];
    uintptr_t n = 0;
    (void)unused;
    for (unsigned c = 0; c < CACHES; c++) {
        caches[c] = slub_cache_create("drained", sizes[c], NULL, 0);
        if (!tk_check(caches[c] != NULL, "no cache"))
            return;
    }
    for (; n < WORKERS; n++)
        tk_check(pthread_create(&t[n], NULL, work, (void *)(n + 1)) == 0, "pthread_create");
    void *(*const others[])(void *) = {drain, create_and_destroy, create_and_destroy, watch};
    for (int i = 0; i < 4; i++, n++)
        tk_check(pthread_create(&t[n], NULL, others[i], (void *)(n + 1)) == 0, "pthread_create");
    tk_sleep(tk_seconds(3, 30));
    atomic_store(&stop, true);
    for (uintptr_t i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    for (unsigned c = 0; c < CACHES; c++)
        tk_check(slub_cache_destroy(caches[c]) == 0, "the cache of %zu bytes lost objects", sizes[c]);
    struct slub_info info = {.size = sizeof info};
    slub_snapshot(&info, NULL, 0);
    tk_check(info.live_objects == 0, "%llu objects are left", (unsigned long long)info.live_objects);
    tk_check(info.drain_skipped == 0, "%llu drains were refused", (unsigned long long)info.drain_skipped);
    tk_note("%s, %lu rounds, %lu drains, %lu destroyed, %lu snapshots", percpu_backend_name(),
            atomic_load(&n_rounds), atomic_load(&n_drains), atomic_load(&n_destroyed), atomic_load(&n_snapshots));
}

int main(int argc, char **argv)
{
    tk_init("rseq", "drained while in use", argc, argv);
    slub_free(slub_alloc(8, 0));
    if (argc < 2 && percpu_backend() != BACKEND_RSEQ)
        tk_skip("restartable sequences are not in use here (%s)", percpu_backend_name());
    tk_child("drains", storm, NULL, tk_seconds(3, 30) + 40);
    return tk_finish();
}
