/* SPDX-License-Identifier: MIT */
/* Case 33: the numbers add up: what the test holds, what the caches say, what the whole says; and
 * nothing that was given back is still counted as resident. Needs slub's snapshot. */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rng.h"
#include "slubinfo.h"
#include "testkit.h"

enum { N_THREADS = 8, N_SLOTS = 4096, MOST_CACHES = 4096 };

static void *_Atomic slots[N_SLOTS];
static atomic_bool must_stop;
static struct slub_cache_info *caches;
static union {
    void *object;
    int (*call)(struct slub_info *, struct slub_cache_info *, size_t);
} snapshot;

/* Blocks go in on one thread and out on another, by exchange. */
static void *shuffle(void *arg)
{
    struct rng r = {.s = tk_seed() + (uintptr_t)arg};

    while (!atomic_load(&must_stop)) {
        void *mine = malloc(rng_size(&r, 1, 200000));

        free(atomic_exchange(&slots[rng_below(&r, N_SLOTS)], mine));
    }
    return NULL;
}

struct sums {
    uint64_t objects, bytes;
};

/* The whole, after checking it against the sum of its caches. */
static struct sums take(const char *when)
{
    struct slub_info info = {.size = sizeof info};
    struct sums s = {0, 0};
    int n;

    for (size_t i = 0; i < MOST_CACHES; i++)
        caches[i].size = sizeof caches[i];
    n = snapshot.call(&info, caches, MOST_CACHES);
    tk_check(n > 0 && n <= MOST_CACHES, "%s: snapshot says %d", when, n);
    for (int i = 0; i < n && i < MOST_CACHES; i++) {
        const struct slub_cache_info *c = &caches[i];

        s.objects += c->objects_live;
        s.bytes += c->live_bytes;
        tk_check(c->objects_live < (uint64_t)1 << 48 && c->objects_cached < (uint64_t)1 << 48,
                 "%s: %s counts %llu live", when, c->name, (unsigned long long)c->objects_live);
        tk_check(c->objects_per_slab == 1 ||
                     c->objects_live + c->objects_cached <= c->objects_total,
                 "%s: %s has more objects than room", when, c->name);
    }
    tk_check(s.objects == info.live_objects, "%s: caches sum to %llu objects, the whole says %llu",
             when, (unsigned long long)s.objects, (unsigned long long)info.live_objects);
    tk_check(s.bytes == info.live_bytes, "%s: caches sum to %llu bytes, the whole says %llu", when,
             (unsigned long long)s.bytes, (unsigned long long)info.live_bytes);
    return s;
}

static void run_threads(double seconds)
{
    pthread_t threads[N_THREADS];

    atomic_store(&must_stop, false);
    for (uintptr_t i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, shuffle, (void *)i);
    tk_sleep(seconds);
    atomic_store(&must_stop, true);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static size_t free_all(size_t *bytes)
{
    size_t n = 0;

    *bytes = 0;
    for (int i = 0; i < N_SLOTS; i++) {
        void *p = atomic_exchange(&slots[i], NULL);

        if (p != NULL) {
            n++;
            *bytes += malloc_usable_size(p);
            free(p);
        }
    }
    return n;
}

/* Bytes that the kernel may take at any time but still counts. */
static size_t lazily_freed(void)
{
    char line[256];
    size_t sum = 0, n;
    FILE *f = fopen("/proc/self/smaps", "r");

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "LazyFree: %zu", &n) == 1)
            sum += n * 1024;
    if (f != NULL)
        fclose(f);
    return sum;
}

static void numbers(void *unused)
{
    struct sums before, held, after;
    size_t n, bytes;

    (void)unused;
    /* The first round lets libc keep what it keeps for threads. */
    run_threads(0.05);
    free_all(&bytes);
    before = take("before");
    run_threads(tk_seconds(0.4, 10));
    held = take("with blocks held");
    n = free_all(&bytes);
    after = take("after");

    tk_check(held.objects - before.objects == n, "%zu blocks held, %lld counted", n,
             (long long)(held.objects - before.objects));
    tk_check(held.bytes - before.bytes == bytes, "%zu bytes held, %lld counted", bytes,
             (long long)(held.bytes - before.bytes));
    tk_check(after.objects == before.objects && after.bytes == before.bytes,
             "%lld objects and %lld bytes remain", (long long)(after.objects - before.objects),
             (long long)(after.bytes - before.bytes));
    malloc_trim(0);
    take("after trim");
    tk_check(lazily_freed() == 0, "%zu bytes are free for the kernel and counted as resident",
             lazily_freed());
    tk_note("%zu blocks of %.1f MiB counted exactly, none remains", n, (double)bytes / TK_MIB);
}

int main(int argc, char **argv)
{
    tk_init("kf33", "accounting", argc, argv);
    if (slubinfo_root() == NULL)
        tk_skip("this malloc has no snapshot to check");
    snapshot.object = dlsym(RTLD_DEFAULT, "slub_snapshot");
    caches = mmap(NULL, MOST_CACHES * sizeof *caches, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tk_child("numbers", numbers, NULL, 60);
    return tk_finish();
}
