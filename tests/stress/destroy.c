/* SPDX-License-Identifier: MIT */
/* Caches are destroyed right after their last object came back, while other threads trim, look, fork and destroy
 * caches of their own. A destroy is never refused for what others have in their hands, and leaves nothing behind. */
#include <errno.h>
#include <pthread.h>
#include <slub/slub.h>
#include <slub/stats.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "cache/init.h"
#include "percpu/percpu.h"
#include "rng.h"
#include "stamp.h"
#include "testkit.h"

enum { OBJECTS = 600, DESTROYERS = 3 };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static atomic_bool stop;
static atomic_ulong n_destroyed, n_walks, n_forks;

struct freeing {
    struct slub_cache *cache;
    void **objs;
    size_t n;
};

static void *free_some(void *arg)
{
    struct freeing *f = arg;
    for (size_t i = 0; i < f->n; i++)
        slub_cache_free(f->cache, f->objs[i]);
    return NULL;
}

/* One life of a cache: half of the objects come back by a thread that is gone when the cache is destroyed. */
static bool one_life(struct rng *r, bool others_free, bool stamped)
{
    void *p[OBJECTS];
    size_t size = rng_size(r, 8, 3000), k = rng_below(r, OBJECTS) + 1;
    struct slub_cache *c = slub_cache_create("passing", size, NULL, 0);
    if (!tk_check(c != NULL, "no cache"))
        return false;
    for (size_t i = 0; i < k; i++)
        if (!tk_check((p[i] = slub_cache_zalloc(c)) != NULL, "no object"))
            return false;
    for (size_t i = 0; stamped && i < k; i++)
        stamp_fill(p[i], size, i);
    for (size_t i = 0; stamped && i < k; i++)
        tk_check(stamp_first_bad(p[i], size, i) == size, "an object of a passing cache has two owners");
    struct freeing f = {c, p, k}, theirs = {c, p + k / 2, k - k / 2};
    if (others_free) {
        pthread_t t;
        f.n = k / 2;
        if (!tk_check(pthread_create(&t, NULL, free_some, &theirs) == 0, "pthread_create"))
            return false;
        free_some(&f);
        pthread_join(t, NULL);
    } else {
        free_some(&f);
    }
    int error = slub_cache_destroy(c);
    atomic_fetch_add(&n_destroyed, 1);
    return tk_check(error == 0, "a cache whose objects are all back: %s", strerror(-error));
}

static void *destroy(void *arg)
{
    struct rng r = {tk_seed() + (uintptr_t)arg};
    while (!atomic_load(&stop) && one_life(&r, rng_below(&r, 16) == 0, true))
        ;
    return NULL;
}

static void *trim(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        init_trim();
        atomic_fetch_add(&n_walks, 1);
    }
    return NULL;
}

static void *look(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        struct slub_info info = {.size = sizeof info};
        tk_check(slub_snapshot(&info, NULL, 0) > 0, "no snapshot");
        atomic_fetch_add(&n_walks, 1);
    }
    return NULL;
}

/* The registry lock is free in the child, whatever the parent was destroying. */
static void *fork_often(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        pid_t pid = fork();
        if (pid == 0) {
            struct rng r = {1};
            alarm(60);
            _exit(one_life(&r, false, true) ? 0 : 1);
        }
        int status = -1;
        bool ended = pid > 0 && waitpid(pid, &status, 0) == pid;
        tk_check(ended && status == 0, "child: %s", tk_status_text(status));
        tk_check(lock_n_held == 0, "fork let go %d locks that it had not taken", -(int)lock_n_held);
        atomic_fetch_add(&n_forks, 1);
        tk_sleep(0.01);
    }
    return NULL;
}

static void beside(void *(*other)(void *), unsigned n_others)
{
    pthread_t t[DESTROYERS + 2];
    uintptr_t n = 0;
    for (; n < DESTROYERS; n++)
        tk_check(pthread_create(&t[n], NULL, destroy, (void *)(n + 1)) == 0, "pthread_create");
    for (unsigned i = 0; i < n_others; i++, n++)
        tk_check(pthread_create(&t[n], NULL, other, NULL) == 0, "pthread_create");
    tk_sleep(tk_seconds(1, 20));
    atomic_store(&stop, true);
    for (uintptr_t i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    struct slub_info info = {.size = sizeof info};
    slub_snapshot(&info, NULL, 0);
    tk_check(info.live_objects == 0, "%llu objects are left", (unsigned long long)info.live_objects);
    tk_check(atomic_load(&n_destroyed) > 0, "nothing was destroyed");
    tk_note("%s, %lu destroyed, %lu walks, %lu forks", percpu_backend_name(), atomic_load(&n_destroyed),
            atomic_load(&n_walks), atomic_load(&n_forks));
}

static void beside_trims(void *unused) { (void)unused, beside(trim, 2); }
static void beside_snapshots(void *unused) { (void)unused, beside(look, 1); }
static void beside_forks(void *unused) { (void)unused, beside(fork_often, 1); }

/* Thousands of lives, freed also by threads that are gone: no memory and no metadata more than after the first. */
static void nothing_stays(void *unused)
{
    struct rng r = {tk_seed()};
    struct slub_info info = {.size = sizeof info};
    size_t n = tk_count(300, 10000), rss = 0;
    uint64_t meta = 0;
    (void)unused;
    /* Addresses of 256 slabs wait in quarantine before the first is used again. */
    for (size_t i = 0; i < 2 * n; i++) {
        if (!one_life(&r, i % 8 == 0, false))
            return;
        if (i + 1 == n || i + 1 == 2 * n) {
            init_trim();
            slub_snapshot(&info, NULL, 0);
        }
        if (i + 1 == n) {
            rss = tk_rss();
            meta = info.meta_bytes;
        }
    }
    /* A sanitizer's shadow grows with every address that is used for the first time, and what an emulator keeps of the
     * program with every piece of it that runs for the first time. */
    tk_check(SANITIZED || EMULATED || tk_rss() <= rss + (1u << 20), "RSS went from %zu to %zu KiB", rss >> 10,
             tk_rss() >> 10);
    tk_check(info.meta_bytes <= meta + (64u << 10), "metadata went from %llu to %llu KiB",
             (unsigned long long)meta >> 10, (unsigned long long)info.meta_bytes >> 10);
    tk_note("RSS %zu KiB after %zu lives", tk_rss() >> 10, 2 * n);
}

int main(int argc, char **argv)
{
    bool forks = strcmp(argv[argc - 1], "--no-forks") != 0;
    tk_init("destroy", "caches that come and go", argc, argv);
    tk_child("trims", beside_trims, NULL, tk_seconds(1, 20) + 60);
    tk_child("snapshots", beside_snapshots, NULL, tk_seconds(1, 20) + 60);
    if (forks)
        tk_child("forks", beside_forks, NULL, tk_seconds(1, 20) + 60);
    tk_child("nothing stays", nothing_stays, NULL, 600);
    return tk_finish();
}
