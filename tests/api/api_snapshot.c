/* SPDX-License-Identifier: MIT */
/* Snapshots: exact when the program is quiet, consistent in their counters, and compatible with callers built
 * against shorter or longer structs. */
#include "api_kit.h"

#include <pthread.h>
#include <stdint.h>

#include "rng.h"

enum { MOST = 20000 };
static void *held[MOST];
static size_t n_held;

static const size_t sizes[] = {8, 24, 64, 200, 480, 1000, 3000, 9000, 32768, 40000, 200000, 1 << 20};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static struct slub_cache_info all[256];

static int snapshot(struct slub_info *info)
{
    memset(info, 0, sizeof *info);
    info->size = sizeof *info;
    for (size_t i = 0; i < 256; i++)
        all[i].size = sizeof all[i];
    return slub_snapshot(info, all, 256);
}

/* Everything that must hold of any quiet snapshot. */
static void check_consistent(void)
{
    struct slub_info info;
    int n = snapshot(&info);
    uint64_t objects = 0, bytes = 0;
    if (!CHECK(n >= 1 && n <= 256))
        return;
    CHECK(info.n_caches == (uint64_t)n);
    for (int i = 0; i < n; i++) {
        const struct slub_cache_info *ci = &all[i];
        objects += ci->objects_live;
        bytes += ci->live_bytes;
        if (strcmp(ci->name, "large") == 0) {
            CHECK(ci->stat[SLUB_STAT_ALLOC_SLOWPATH] - ci->stat[SLUB_STAT_FREE_SLOWPATH] == ci->objects_live);
            continue;
        }
        uint64_t out = ci->stat[SLUB_STAT_SLAB_TAKE] - ci->stat[SLUB_STAT_SLAB_GIVE];
        tk_check(out == ci->objects_live + ci->objects_cached, "%s: out %llu, live %llu, cached %llu", ci->name,
                 (unsigned long long)out, (unsigned long long)ci->objects_live,
                 (unsigned long long)ci->objects_cached);
        CHECK(ci->live_bytes == ci->objects_live * ci->stride_bytes);
        CHECK(ci->objects_total >= out);
        CHECK(ci->objects_total == (ci->slabs + ci->slabs_empty) * ci->objects_per_slab);
        CHECK(ci->slabs_partial <= ci->slabs);
        /* Caches of this program are not destroyed meanwhile, so every slab is still somewhere. */
        CHECK(ci->slabs + ci->slabs_empty + ci->slabs_clean <= ci->stat[SLUB_STAT_SLAB_NEW]);
        CHECK(ci->stat[SLUB_STAT_BARN_GET] + ci->stat[SLUB_STAT_BARN_TRIM] <= ci->stat[SLUB_STAT_BARN_PUT]);
        CHECK(ci->stat[SLUB_STAT_SLAB_FREE] <= ci->stat[SLUB_STAT_SLAB_EMPTY]);
        CHECK(ci->stride_bytes >= ci->object_bytes && ci->stride_bytes % ci->align_bytes == 0);
        CHECK(ci->objects_per_slab * ci->stride_bytes <= ci->slab_bytes);
        bool counts = getenv("SLUB_OPTIONS") != NULL && strstr(getenv("SLUB_OPTIONS"), "slab_stats=1") != NULL;
        CHECK((ci->stat[SLUB_STAT_ALLOC_FASTPATH] == SLUB_NOT_COUNTED) == !counts);
        CHECK((ci->stat[SLUB_STAT_FREE_FASTPATH] == SLUB_NOT_COUNTED) == !counts);
    }
    CHECK(info.live_objects == objects);
    CHECK(info.live_bytes == bytes);
    CHECK(info.mapped_bytes <= info.reserved_bytes);
}

static void check_held(uint64_t others, uint64_t other_bytes)
{
    struct slub_info info;
    uint64_t bytes = 0;
    for (size_t i = 0; i < n_held; i++)
        bytes += slub_usable_size(held[i]);
    snapshot(&info);
    tk_check(info.live_objects == n_held + others, "live %llu, held %zu", (unsigned long long)info.live_objects,
             n_held);
    tk_check(info.live_bytes == bytes + other_bytes, "live bytes %llu, held %llu",
             (unsigned long long)info.live_bytes, (unsigned long long)bytes);
}

static void exact_alone(void *unused)
{
    struct rng r = {tk_seed()};
    (void)unused;
    for (int step = 0; step < 60000; step++) {
        if (n_held < 2000 && rng_below(&r, 2) == 0) {
            size_t size = sizes[rng_below(&r, rng_below(&r, 20) == 0 ? N_SIZES : N_SIZES - 4)];
            held[n_held] = slub_alloc(size, 0);
            n_held += held[n_held] != NULL;
        } else if (n_held != 0) {
            size_t i = rng_below(&r, n_held);
            slub_free(held[i]);
            held[i] = held[--n_held];
        }
        if (step % 1000 == 0) {
            check_held(0, 0);
            check_consistent();
        }
    }
    while (n_held != 0)
        slub_free(held[--n_held]);
    check_held(0, 0);
    check_consistent();
}

struct worker {
    uint64_t seed;
    void *kept[500];
    size_t n_kept;
};

static void *work(void *arg)
{
    struct worker *w = (struct worker *)arg;
    struct rng r = {w->seed};
    for (int step = 0; step < 60000; step++) {
        if (w->n_kept < 500 && rng_below(&r, 2) == 0) {
            w->kept[w->n_kept++] = slub_alloc(sizes[rng_below(&r, N_SIZES)], 0);
        } else if (w->n_kept != 0) {
            size_t i = rng_below(&r, w->n_kept);
            slub_free(w->kept[i]);
            w->kept[i] = w->kept[--w->n_kept];
        }
    }
    return NULL;
}

/* Many threads, then quiet: what they still hold is what the snapshot says; others free it. */
static void exact_after_threads(void *unused)
{
    enum { N = 6 };
    static struct worker w[N];
    pthread_t t[N];
    (void)unused;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            w[i].seed = tk_seed() + (uint64_t)(round * N + i);
            w[i].n_kept = 0;
            CHECK(pthread_create(&t[i], NULL, work, &w[i]) == 0);
        }
        /* Snapshots while they work must not disturb them; they need not be exact. */
        for (int i = 0; i < 50; i++) {
            struct slub_info info;
            CHECK(snapshot(&info) >= 1);
        }
        for (int i = 0; i < N; i++)
            pthread_join(t[i], NULL);
        for (int i = 0; i < N; i++)
            for (size_t k = 0; k < w[i].n_kept; k++)
                held[n_held++] = w[i].kept[k];
        check_held(0, 0);
        check_consistent();
        while (n_held != 0)
            slub_free(held[--n_held]);
        check_held(0, 0);
        check_consistent();
    }
}

static void exact_for_caches(void *unused)
{
    struct slub_cache_info ci;
    void *p[777];
    (void)unused;
    struct slub_cache *c = slub_cache_create("exact", 100, NULL, 0);
    CHECK(kit_find("exact", &ci) && ci.objects_live == 0 && ci.slabs == 0 && ci.object_bytes == 100);
    CHECK(ci.stride_bytes == 104);
    CHECK(slub_cache_alloc_bulk(c, 0, 777, p) == 777);
    CHECK(kit_find("exact", &ci) && ci.objects_live == 777 && ci.live_bytes == 777 * 104);
    check_consistent();
    for (size_t i = 0; i < 777; i++) {
        slub_cache_free(c, p[i]);
        if (i % 50 == 0)
            CHECK(kit_find("exact", &ci) && ci.objects_live == 776 - i);
    }
    check_consistent();
    CHECK(slub_cache_destroy(c) == 0);
    check_held(0, 0);
}

static void counters_move(void *unused)
{
    struct slub_cache_info a, b;
    static void *p[10000];
    (void)unused;
    slub_free(slub_alloc(64, 0));
    CHECK(kit_find("kmalloc-64", &a));
    for (int i = 0; i < 10000; i++)
        p[i] = slub_alloc(64, 0);
    for (int i = 0; i < 10000; i++)
        slub_free(p[i]);
    CHECK(kit_find("kmalloc-64", &b));
    CHECK(b.stat[SLUB_STAT_SLAB_TAKE] - a.stat[SLUB_STAT_SLAB_TAKE] >= 10000 - 1000);
    CHECK(b.stat[SLUB_STAT_SLAB_NEW] - a.stat[SLUB_STAT_SLAB_NEW] >= 9);
    CHECK(b.stat[SLUB_STAT_ALLOC_SLOWPATH] > a.stat[SLUB_STAT_ALLOC_SLOWPATH]);
    CHECK(b.stat[SLUB_STAT_FREE_SLOWPATH] > a.stat[SLUB_STAT_FREE_SLOWPATH]);
    CHECK(b.stat[SLUB_STAT_SHEAF_GROW] > a.stat[SLUB_STAT_SHEAF_GROW]);
    if (b.stat[SLUB_STAT_ALLOC_FASTPATH] != SLUB_NOT_COUNTED) {
        uint64_t fast = b.stat[SLUB_STAT_ALLOC_FASTPATH] - a.stat[SLUB_STAT_ALLOC_FASTPATH];
        uint64_t slow = b.stat[SLUB_STAT_ALLOC_SLOWPATH] - a.stat[SLUB_STAT_ALLOC_SLOWPATH];
        tk_check(fast + slow == 10000, "%llu fast and %llu slow of 10000", (unsigned long long)fast,
                 (unsigned long long)slow);
    }
}

enum { ON_EACH_CPU = 5000 };

struct taker {
    struct slub_cache *cache;
    int cpu;
    void *taken[ON_EACH_CPU];
};

static void *take_all(void *arg)
{
    struct taker *t = (struct taker *)arg;
    tk_pin(t->cpu);
    for (int i = 0; i < ON_EACH_CPU; i++)
        CHECK((t->taken[i] = slub_cache_alloc(t->cache, 0)) != NULL);
    return NULL;
}

static void *take_and_free_all(void *arg)
{
    struct taker *t = (struct taker *)arg;
    take_all(t);
    for (int i = 0; i < ON_EACH_CPU; i++)
        slub_cache_free(t->cache, t->taken[i]);
    return NULL;
}

/* What one CPU put away, another takes; also then an allocation is counted once. And draining is none. */
static void counted_once(void *unused)
{
    static struct taker first, second;
    struct slub_cache_info ci;
    int cpus[2];
    pthread_t t;
    (void)unused;
    if (tk_cpus(cpus, 2) < 2) {
        tk_note("counted once: not judged, there is one CPU");
        return;
    }
    struct slub_cache *c = slub_cache_create("counted", 64, NULL, 0);
    first.cache = second.cache = c;
    first.cpu = cpus[0];
    second.cpu = cpus[1];
    CHECK(pthread_create(&t, NULL, take_and_free_all, &first) == 0 && pthread_join(t, NULL) == 0);
    CHECK(pthread_create(&t, NULL, take_all, &second) == 0 && pthread_join(t, NULL) == 0);
    for (int i = 0; i < ON_EACH_CPU; i++)
        slub_cache_free(c, second.taken[i]);
    slub_cache_shrink(c);
    CHECK(kit_find("counted", &ci));
    CHECK(ci.stat[SLUB_STAT_BARN_GET] != 0 && ci.objects_cached == 0);
    if (ci.stat[SLUB_STAT_ALLOC_FASTPATH] != SLUB_NOT_COUNTED) {
        uint64_t n = ci.stat[SLUB_STAT_ALLOC_FASTPATH] + ci.stat[SLUB_STAT_ALLOC_SLOWPATH];
        tk_check(n == 2 * ON_EACH_CPU, "%llu of %d allocations were counted", (unsigned long long)n, 2 * ON_EACH_CPU);
    }
    CHECK(slub_cache_destroy(c) == 0);
}

static void other_struct_sizes(void *unused)
{
    struct slub_info info;
    (void)unused;
    slub_free(slub_alloc(100, 0));
    memset(&info, 0xee, sizeof info);
    info.size = 0;
    CHECK(slub_snapshot(&info, NULL, 0) == -EINVAL);
    /* An older, shorter struct: nothing behind its end is written. */
    info.size = offsetof(struct slub_info, live_bytes);
    CHECK(slub_snapshot(&info, NULL, 0) >= 1);
    CHECK(info.size == offsetof(struct slub_info, live_bytes) && info.live_objects == 0);
    CHECK(info.live_bytes == 0xeeeeeeeeeeeeeeee);
    /* A newer, longer one. */
    struct {
        struct slub_info info;
        uint64_t newer;
    } later;
    memset(&later, 0, sizeof later);
    later.info.size = sizeof later;
    later.newer = 5;
    CHECK(slub_snapshot(&later.info, NULL, 0) >= 1 && later.newer == 5 && later.info.n_caches >= 1);

    CHECK(slub_snapshot(NULL, NULL, 0) >= 1);
    CHECK(slub_snapshot(NULL, NULL, 1) == -EINVAL);
    all[0].size = sizeof all[0];
    all[1].size = sizeof all[1];
    memset(all[1].name, 0x5a, sizeof all[1].name);
    int n = slub_snapshot(NULL, all, 1); /* fewer than there are */
    CHECK(n >= 2 && all[1].name[0] == 0x5a);
    all[0].size = 3;
    CHECK(slub_snapshot(NULL, all, 1) == -EINVAL);
}

/* Each entry has a size of its own; a bad one anywhere is refused. */
static void bad_size_in_the_second_entry(void *unused)
{
    static struct slub_cache_info two[2];
    (void)unused;
    slub_free(slub_alloc(100, 0));
    two[0].size = sizeof two[0];
    two[1].size = 0;
    CHECK(slub_snapshot(NULL, two, 2) == -EINVAL);
}

static void names(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < SLUB_N_STATS; i++) {
        const char *name = slub_stat_name(i);
        CHECK(name != NULL && name[0] >= 'A' && name[0] <= 'Z');
        for (unsigned k = 0; k < i; k++)
            CHECK(strcmp(name, slub_stat_name(k)) != 0);
    }
    CHECK(strcmp(slub_stat_name(SLUB_STAT_ALLOC_SLOWPATH), "ALLOC_SLOWPATH") == 0);
    CHECK(slub_stat_name(SLUB_N_STATS) == NULL);
    CHECK(slub_stat_name(~0u) == NULL);
    slub_free(slub_alloc(1, 0));
    CHECK(memcmp(slub_root.magic, "SLUBROOT", 8) == 0 && slub_root.layout == 1);
    CHECK(slub_root.size == sizeof slub_root && slub_root.page_bytes != 0 && slub_root.malloc_owner == 0);
    struct slub_info info = kit_info();
    CHECK(strcmp(info.percpu, slub_root.percpu) == 0 && info.percpu[0] != 0);
    CHECK(strcmp(info.version, SLUB_VERSION) == 0 && strcmp(info.mode, "default") == 0);
}

int main(int argc, char **argv)
{
    tk_init("api", "snapshots", argc, argv);
    tk_child("alone", exact_alone, NULL, 30);
    tk_child("threads", exact_after_threads, NULL, 30);
    tk_child("caches", exact_for_caches, NULL, 30);
    tk_child("counters", counters_move, NULL, 30);
    tk_child("counted once", counted_once, NULL, 30);
    tk_child("struct sizes", other_struct_sizes, NULL, 30);
    tk_child("bad size in the second entry", bad_size_in_the_second_entry, NULL, 30);
    tk_child("names", names, NULL, 30);
    return tk_finish();
}
