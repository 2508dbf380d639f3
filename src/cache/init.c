/* SPDX-License-Identifier: MIT */
/* One-time initialisation, relief between pools, fork handlers; see init.h. Layer: L7.
 * Nothing here calls libc functions that could allocate while a lock is held; the constructor registers fork
 * handlers before the program has threads. */
#define _GNU_SOURCE
#include "cache/init.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/syscall.h"
#include "cache/object.h"
#include "cache/registry.h"
#include "cache/sizeclass.h"
#include "cache/stopgap.h"
#include "large/guard.h"
#include "large/large.h"
#include "large/runs.h"
#include "os/os.h"
#include "percpu/percpu.h"
#include "region/meta.h"
#include "region/region.h"
#include "region/spare.h"
#include "service/dirty.h"
#include "service/entropy.h"
#include "service/options.h"
#include "slub/stats.h"

_Atomic bool init_is_done;
_Atomic uint32_t init_gate;

static struct lock init_lock;

#if SLUB_STATE
#define MODE_BUILT MODE_DEFAULT
#define MODE_NAME "default"
#else
#define MODE_BUILT MODE_FAST
#define MODE_NAME "fast"
#endif

struct slub_root slub_root = {
    .magic = {'S', 'L', 'U', 'B', 'R', 'O', 'O', 'T'},
    .layout = 1,
    .size = sizeof(struct slub_root),
    .version = SLUB_VERSION,
    .mode = MODE_NAME,
};

/* Address space for objects: plenty, since granules are not shared between caches. */
static uint64_t heap_bytes(void)
{
    uint64_t want = options.reserve_bytes;
    if (want == 0) {
        uint64_t ram = os_memory_bytes();
        want = ram > (1ull << 38) ? 1ull << 43 : ram * 32;
        if (want < 1ull << 36)
            want = 1ull << 36;
    }
    return want;
}

/* Other pools' empty slabs, when the asker has no more of its own. */
struct relief {
    struct pool *asker;
    bool drain, any;
};

static void relieve(struct slub_cache *c, void *arg)
{
    struct relief *r = arg;
    if (r->drain)
        r->any |= cache_drain(c, false);
    if (&c->ca_pool == r->asker)
        return;
    r->any |= pool_relieve_space(&c->ca_pool);
}

/* The pool whose slab has been empty longest. */
struct oldest {
    struct pool *pool;
    uint32_t emptied;
};

static void find_oldest(struct slub_cache *c, void *arg)
{
    struct oldest *o = arg;
    uint32_t emptied;
    if (pool_oldest_empty(&c->ca_pool, &emptied) && (o->pool == NULL || (int32_t)(emptied - o->emptied) < 0))
        *o = (struct oldest){&c->ca_pool, emptied};
}

/* Who has too much dirty may hold slots or the registry; then somebody else will ask again. */
static bool relieve_dirty(void)
{
    bool any = false;
    if (!lock_try(&registry_lock))
        return false;
    while (dirty_is_near(&dirty_slabs)) {
        struct oldest o = {NULL, 0};
        registry_each_locked(find_oldest, &o);
        if (o.pool == NULL || pool_purge_oldest(o.pool) == 0)
            break;
        any = true;
    }
    lock_release(&registry_lock);
    return any;
}

/* When all barns together keep more than the share of what is in use, those of other caches give up a few slabs' worth
 * for each slab that is added, in turn. */
static bool relieve_kept(const struct pool *asker)
{
    enum { GIVE_BYTES = 2 * SLUB_GRANULE_BYTES, GIVE_MOST = 2048 }; /* bytes; objects, whose cost is time */
    static unsigned turn = GMAP_FIRST_CACHE;                        /* [lock:registry_lock] */
    size_t bytes = 0, n = 0;
    if (barn_total_bytes() <= dirty_share(&dirty_slabs) || !lock_try(&registry_lock))
        return false;
    for (unsigned i = GMAP_FIRST_CACHE; i < SLUB_MAX_CACHES && bytes < GIVE_BYTES && n < GIVE_MOST; i++) {
        struct slub_cache *c = registry_get(turn);
        turn = turn + 1 < SLUB_MAX_CACHES ? turn + 1 : GMAP_FIRST_CACHE;
        if (c == NULL || &c->ca_pool == asker)
            continue;
        size_t stride = c->ca_pool.po_geometry.stride_bytes;
        size_t k = cache_give_up(c, min_size((GIVE_BYTES - bytes + stride - 1) / stride, GIVE_MOST - n));
        bytes += k * stride;
        n += k;
    }
    lock_release(&registry_lock);
    if (dirty_is_over(&dirty_slabs)) /* what was emptied under the lock */
        relieve_dirty();
    return n != 0;
}

/* Who asks for space holds no lock, and would fail without it. */
static bool relieve_all(struct pool *asker, enum pool_relief what)
{
    struct relief r = {asker, false, false};
    if (what == RELIEF_DIRTY)
        return relieve_dirty();
    if (what == RELIEF_KEPT)
        return relieve_kept(asker);
    if (what == RELIEF_SPACE && large_relieve_space())
        return true;
    registry_each(relieve, &r);
    if (!r.any) {
        r.drain = true;
        registry_each(relieve, &r);
    }
    return r.any;
}

SLUB_SLOW bool init_now(void)
{
    if (lock_is_inside())
        return false;
    lock_acquire(&init_lock);
    if (!init_is_done) { /* also again after a failure: memory may be back */
        options_parse_environment(environ);
        if (options.mode == MODE_FAST && MODE_BUILT != MODE_FAST) {
            static const char why[] = "this library has one mode; fast is libslub-malloc-fast.so";
            check_report_line("option mode= ignored", why, sizeof why - 1);
        }
        uint64_t limit = os_address_limit();
        size_t area_bytes = percpu_area_bytes();
        if (area_bytes > limit / 4) /* then no part of it stays closed (percpu.c), and the rest may have an eighth */
            do
                area_bytes /= 2;
            while (area_bytes > limit / 8 && area_bytes > PERCPU_BYTES);
        struct region_sizes sizes = {heap_bytes(), area_bytes, limit};
        if (region_init(sizes, options.thp == THP_MADVISE) == 0) {
            cache_init_machine();
            registry_init_machine();
            sizeclass_init(options.kmalloc_classes);
            runs_init();
            guard_init();
            pool_relief = relieve_all;
            percpu_init(region_percpu_area(), region_percpu_bytes(), cache_sink);
            strncpy(slub_root.percpu, percpu_backend_name(), sizeof slub_root.percpu - 1);
            strncpy(slub_root.percpu_index, percpu_index_name(), sizeof slub_root.percpu_index - 1);
            slub_root.page_bytes = (uint32_t)os_page_size();
            atomic_store_explicit(&init_is_done, true, memory_order_release);
        }
    }
    lock_release(&init_lock);
    return init_is_done;
}

static void trim_one(struct slub_cache *c, void *bytes) { *(uint64_t *)bytes += cache_trim(c); }

uint64_t init_trim(void)
{
    uint64_t bytes = 0;
    if (lock_is_inside())
        return 0;
    init_late_check();
    registry_each(trim_one, &bytes);
    return bytes + large_purge(true);
}

/* ---- frees that were put off ---------------------------------------------------------------------- */

void init_put_off(void *p)
{
    stopgap_put_off(p);
    atomic_fetch_or(&init_gate, GATE_LATE);
}

static void give_late(void *p)
{
    struct object ob;
    object_find(p, &ob);
    struct entry e = entry_make(p, ob.ob_state);
    if (ob.ob_cache != NULL)
        cache_put_away(ob.ob_cache, &e, 1);
    else if (!large_free(p))
        object_report(&ob, "free", p);
}

void init_take_back(void)
{
    /* The bit first, so that what is put off during the walk is found by the next one. */
    if ((atomic_fetch_and(&init_gate, ~(uint32_t)GATE_LATE) & GATE_LATE) != 0)
        stopgap_take_back(give_late);
}

/* ---- fork ---------------------------------------------------------------------------------------
 * With other threads, the forking one takes every lock, so nothing is half-done in the child but the sheaves of
 * other CPUs. Alone, it takes none: nobody else can hold them, and writing to them would copy their pages in
 * parent and child. What the child must do before it allocates waits until then (adopt), since most children
 * only exec.
 *
 * Other libraries' handlers run before and after these. While the thread holds the locks it is inside (lock.h), so
 * what they allocate and free is served without locks. A fork by a signal handler that interrupted a slow path
 * takes no lock either: it may hold one of them. Its child can be sure of the handler's own calls only. */

/* Who holds the locks, by an address that is its own in parent and child. [written under init_lock] */
static const volatile unsigned *_Atomic fork_owner;

static void lock_one(struct slub_cache *c, void *unused) { (void)unused, cache_lock_all(c); }
static void unlock_one(struct slub_cache *c, void *unused) { (void)unused, cache_unlock_all(c); }
static void rekey_one(struct slub_cache *c, void *unused) { (void)unused, pool_rekey(&c->ca_pool); }

/* What the parent had at hand in the order in which it will use it: mix it, and keep it at hand here too. Barns are
 * a few pages, where slabs would be many; each written page is a copy. */
static void adopt_sink(unsigned id, struct entry *e, size_t n)
{
    static struct random_stream rs; /* by the only thread that adopts */
    uint8_t seed[32];
    struct slub_cache *c = registry_get(id);
    if (c == NULL)
        return;
    entropy_seed(seed);
    random_seed(&rs, seed);
    random_shuffle(&rs, e, n, sizeof *e);
    cache_put_away(c, e, n);
}

static void fork_prepare(void)
{
    if (lock_is_inside() || os_is_single_threaded())
        return;
    lock_acquire(&init_lock); /* a first use that is under way ends before */
    atomic_fetch_or_explicit(&init_gate, GATE_FORK, memory_order_relaxed);
    atomic_store_explicit(&fork_owner, &lock_n_held, memory_order_relaxed);
    if (!init_is_done)
        return;
    lock_acquire(&registry_lock);
    percpu_fork_prepare();
    registry_each_locked(lock_one, NULL);
    lock_acquire(&large_lock);
    lock_acquire(&spare_lock);
    lock_acquire(&region_lock);
    entropy_lock_acquire();
    lock_acquire(&meta_lock);
}

static bool fork_is_mine(void)
{
    return atomic_load_explicit(&fork_owner, memory_order_relaxed) == &lock_n_held;
}

static void fork_release(void)
{
    atomic_store_explicit(&fork_owner, NULL, memory_order_relaxed);
    if (init_is_done) {
        lock_release(&meta_lock);
        entropy_lock_release();
        lock_release(&region_lock);
        lock_release(&spare_lock);
        lock_release(&large_lock);
        registry_each_locked(unlock_one, NULL);
        percpu_fork_release();
        lock_release(&registry_lock);
    }
    lock_release(&init_lock);
    atomic_fetch_and_explicit(&init_gate, ~(uint32_t)GATE_FORK, memory_order_release);
    raw_syscall(SYS_futex, (long)&init_gate, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

static void fork_parent(void)
{
    if (fork_is_mine())
        fork_release();
}

static void fork_child(void)
{
    if (fork_is_mine())
        fork_release();
    if (!init_is_done || lock_is_inside())
        return;
    percpu_fork_child();
    atomic_fetch_or_explicit(&init_gate, GATE_ADOPT, memory_order_relaxed);
}

SLUB_SLOW void init_pass_gate(void)
{
    uint32_t gate;
    while (((gate = atomic_load_explicit(&init_gate, memory_order_acquire)) & GATE_FORK) != 0)
        raw_syscall(SYS_futex, (long)&init_gate, FUTEX_WAIT_PRIVATE, gate, 0, 0, 0);
    if ((gate & GATE_ADOPT) != 0) {
        entropy_renew();
        /* First of all new keys: as soon as one thread has adopted, the others take objects. */
        registry_each(rekey_one, NULL);
        if (percpu_adopt(adopt_sink))
            atomic_fetch_and_explicit(&init_gate, ~(uint32_t)GATE_ADOPT, memory_order_release);
    }
    init_take_back();
}

/* Fences are registered here because that is a thousand times cheaper before the program has threads. The
 * rest waits for the first use, so that slub_options_set() can come before it. */
#ifdef __GLIBC__
/* The malloc libraries come before libc's own constructor, which sets `environ`; so this takes what the loader hands
 * to all of them. */
static __attribute__((constructor(101))) void init_early(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
#else
static __attribute__((constructor(101))) void init_early(void)
{
    char **environment = environ;
#endif
    options_parse_environment(environment);
    percpu_prepare();
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}
