/* SPDX-License-Identifier: MIT */
/* Slow paths of a cache; see cache.h. Layer: L7. Locking: none of its own. */
#include "cache/cache.h"

#include "cache/init.h"
#include "cache/registry.h"
#include "os/os.h"
#include "percpu/percpu.h"
#include "region/meta.h"
#include "service/options.h"

/* Slabs and barns have homes: every memory node has as many, and CPU c of node k is at home at k + c * pool_n_nodes,
 * modulo their number. */
static unsigned n_homes; /* [const after init] */

void cache_init_machine(void)
{
    pool_n_nodes = (unsigned)min_size(os_node_bound(), POOL_MAX_HOMES);
    n_homes = (unsigned)min_size(os_cpu_count(), POOL_MAX_HOMES / pool_n_nodes) * pool_n_nodes;
}

/* Largest sheaves that fit the budget, or hold least_capacity. */
static unsigned order_for(size_t stride, uint64_t bytes, unsigned least_capacity)
{
    unsigned order = 0;
    while (order < SHEAF_MAX_ORDER && (2 * SHEAF_OBJS(order + 1) * stride <= bytes ||
                                       2 * SHEAF_OBJS(order) < least_capacity))
        order++;
    return order;
}

void cache_init(struct slub_cache *c, uint32_t id, const struct geometry *g, size_t object_bytes,
                size_t align_bytes, unsigned sheaf_capacity)
{
    c->ca_object_bytes = (uint32_t)object_bytes;
    c->ca_align_bytes = (uint32_t)align_bytes;
    c->ca_max_order = (uint8_t)order_for(g->stride_bytes, options.sheaf_bytes, sheaf_capacity);
    c->ca_cheap_order = (uint8_t)order_for(g->stride_bytes, options.sheaf_bytes / 8, sheaf_capacity);
    barn_init(&c->ca_barn0, g->stride_bytes, c->ca_max_order);
    atomic_store_explicit(&c->ca_barn[0], &c->ca_barn0, memory_order_release);
    pool_init(&c->ca_pool, id, g);
}

/* Home of the caller. While a process has one thread, that is the first of its node, wherever it runs: nobody shares
 * its cache lines, and memory stays together. */
static unsigned home_here(void)
{
    unsigned cpu = 0, node = 0;
    if (unlikely(pool_n_nodes > 1))
        os_where(&cpu, &node);
    if (n_homes == pool_n_nodes || os_is_single_threaded())
        return node % pool_n_nodes;
    return (percpu_cpu() * pool_n_nodes + node % pool_n_nodes) % n_homes;
}

/* Made at first use, under the lock of the first so that fork sees it whole; the first when there is no memory. */
static SLUB_SLOW struct barn *barn_make(struct slub_cache *c, unsigned i)
{
    lock_acquire(&c->ca_barn0.bn_lock);
    struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_relaxed);
    if (bn == NULL && (bn = meta_alloc(sizeof *bn)) != NULL) {
        barn_init(bn, c->ca_pool.po_geometry.stride_bytes, c->ca_max_order);
        atomic_store_explicit(&c->ca_barn[i], bn, memory_order_release);
    }
    lock_release(&c->ca_barn0.bn_lock);
    return bn != NULL ? bn : &c->ca_barn0;
}

static struct barn *barn_get_at(struct slub_cache *c, unsigned i)
{
    struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_acquire);
    return likely(bn != NULL) ? bn : barn_make(c, i);
}

/* Another CPU's barn on this node that seems to have something; NULL when none has. */
static struct barn *barn_of_others(struct slub_cache *c, unsigned home)
{
    for (unsigned k = pool_n_nodes; k < n_homes; k += pool_n_nodes) {
        unsigned i = (home + k) % n_homes;
        struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_acquire);
        if (bn != NULL && !barn_seems_empty(bn))
            return bn;
    }
    return NULL;
}

/* Objects that slow paths move over the stack at a time: half a KiB. */
enum { CHUNK = 64 };

/* What barns did not need for a second; also those of CPUs that are idle now. */
static void give_idle(struct slub_cache *c)
{
    void *idle[CHUNK];
    size_t k;
    for (unsigned i = 0; i < n_homes; i++) {
        struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_acquire);
        if (bn != NULL && barn_is_due(bn))
            while ((k = barn_trim(bn, idle, CHUNK)) != 0)
                pool_give(&c->ca_pool, i, idle, k);
    }
}

/* To the barn, else to slabs. */
void cache_put_away(struct slub_cache *c, void *const *objs, size_t n)
{
    unsigned home = home_here();
    size_t done = barn_put(barn_get_at(c, home), objs, n);
    if (done < n)
        pool_give(&c->ca_pool, home, objs + done, n - done);
}

static size_t batch_now(struct slub_cache *c, bool *grown)
{
    size_t batch = percpu_batch(c->ca_pool.po_id, c->ca_cheap_order, c->ca_max_order, grown);
    if (*grown)
        atomic_fetch_add_explicit(&c->ca_grown, 1, memory_order_relaxed);
    return batch;
}

/* From the barn into the caller's slot; returns one of them, NULL when the barn is empty. */
static void *refill_from_barn(struct slub_cache *c, struct barn *bn, size_t n)
{
    struct sheaf *sh = barn_open_filled(bn);
    if (sh == NULL)
        return NULL;
    n = min_size(n, sh->sh_n_objs) - 1;
    void **objs = sh->sh_objs + sh->sh_n_objs - 1 - n;
    void *obj = objs[n];
    if (n != 0) {
        size_t k = percpu_push_bulk(c->ca_pool.po_id, objs, n);
        /* What did not fit any more stays, below the one that leaves. */
        for (size_t i = k; i < n; i++)
            objs[i - k] = objs[i];
        n = k;
    }
    barn_close_taken(bn, sh, n + 1);
    return obj;
}

static void *refill_from_slabs(struct slub_cache *c, unsigned home, size_t n)
{
    void *objs[CHUNK];
    n = pool_take(&c->ca_pool, home, objs, min_size(n, CHUNK));
    if (n == 0)
        return NULL;
    n--;
    size_t done = n != 0 ? percpu_push_bulk(c->ca_pool.po_id, objs, n) : 0;
    if (unlikely(done < n))
        cache_put_away(c, objs + done, n - done);
    return objs[n];
}

static void *try_shared_slot(struct slub_cache *c)
{
    void *obj = percpu_pop(c->ca_pool.po_id);
    if (obj != NULL && options.stats)
        atomic_fetch_add_explicit(&c->ca_alloc_fast, 1, memory_order_relaxed);
    return obj;
}

void *cache_take(struct slub_cache *c)
{
    void *obj;
    bool grown;
    init_gate_check();
    if (percpu_backend() != BACKEND_RSEQ && (obj = try_shared_slot(c)) != NULL)
        return obj;
    unsigned home = home_here();
    struct barn *bn = barn_get_at(c, home);
    size_t batch = batch_now(c, &grown);
    obj = refill_from_barn(c, bn, batch);
    if (obj != NULL)
        return obj;
    struct barn *other = barn_of_others(c, home);
    obj = other != NULL ? refill_from_barn(c, other, batch) : NULL;
    if (obj != NULL)
        return obj;
    barn_learn(bn);
    return refill_from_slabs(c, home, batch);
}

static bool put_shared_slot(struct slub_cache *c, void *obj)
{
    if (!percpu_push(c->ca_pool.po_id, obj))
        return false;
    if (options.stats)
        atomic_fetch_add_explicit(&c->ca_free_fast, 1, memory_order_relaxed);
    return true;
}

/* A batch of the caller's slot to slabs, when the barn has no room. */
static void flush_to_slabs(struct slub_cache *c, unsigned home, size_t n)
{
    void *objs[CHUNK];
    n = percpu_pop_bulk(c->ca_pool.po_id, objs, min_size(n, CHUNK));
    if (n != 0)
        pool_give(&c->ca_pool, home, objs, n);
}

void cache_put(struct slub_cache *c, void *obj)
{
    uint32_t id = c->ca_pool.po_id;
    bool grown;
    init_gate_check();
    if (percpu_backend() != BACKEND_RSEQ && put_shared_slot(c, obj))
        return;
    size_t batch = batch_now(c, &grown);
    if (grown && percpu_push(id, obj))
        return;
    unsigned home = home_here();
    struct barn *bn = barn_get_at(c, home);
    struct sheaf *sh = barn_open_room(bn, batch);
    if (sh != NULL) {
        size_t n = min_size(batch, SHEAF_OBJS(bn->bn_sheaf_order) - sh->sh_n_objs);
        barn_close_put(bn, sh, percpu_pop_bulk(id, sh->sh_objs + sh->sh_n_objs, n));
    } else {
        flush_to_slabs(c, home, batch);
    }
    if (!percpu_push(id, obj))
        cache_put_away(c, &obj, 1);
    if (barn_is_due(bn))
        give_idle(c);
}

size_t cache_take_bulk(struct slub_cache *c, void **objs, size_t n)
{
    unsigned home = home_here();
    struct barn *bn = barn_get_at(c, home), *other;
    init_gate_check();
    size_t got = n != 0 ? percpu_pop_bulk(c->ca_pool.po_id, objs, n) : 0;
    while (got < n) {
        size_t k = barn_get(bn, objs + got, n - got);
        if (k == 0 && (other = barn_of_others(c, home)) != NULL)
            k = barn_get(other, objs + got, n - got);
        if (k == 0) {
            barn_learn(bn);
            k = pool_take(&c->ca_pool, home, objs + got, n - got);
        }
        if (k == 0)
            break;
        got += k;
    }
    return got;
}

void cache_put_bulk(struct slub_cache *c, void *const *objs, size_t n)
{
    bool grown;
    init_gate_check();
    size_t done = n != 0 ? percpu_push_bulk(c->ca_pool.po_id, objs, n) : 0;
    if (done < n) {
        batch_now(c, &grown);
        cache_put_away(c, objs + done, n - done);
    }
}

void cache_sink(unsigned id, void **objs, size_t n)
{
    struct slub_cache *c = registry_get(id);
    if (c != NULL)
        pool_give(&c->ca_pool, home_here(), objs, n);
}

bool cache_drain(struct slub_cache *c, bool close)
{
    bool ok = percpu_drain(c->ca_pool.po_id, close, cache_sink) == 0;
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++) {
        struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_acquire);
        void *objs[CHUNK];
        size_t n;
        if (bn == NULL)
            continue;
        while ((n = barn_get(bn, objs, CHUNK)) != 0)
            pool_give(&c->ca_pool, i, objs, n);
        barn_drop_spares(bn);
    }
    return ok;
}

uint64_t cache_trim(struct slub_cache *c)
{
    cache_drain(c, false);
    return pool_trim(&c->ca_pool, true);
}

uint64_t cache_n_cached(struct slub_cache *c)
{
    uint64_t n = percpu_n_objs(c->ca_pool.po_id);
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++) {
        struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_acquire);
        if (bn != NULL)
            n += barn_n_objs(bn);
    }
    return n;
}

void cache_lock_all(struct slub_cache *c)
{
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++)
        if (c->ca_barn[i] != NULL)
            lock_acquire(&c->ca_barn[i]->bn_lock);
    pool_lock_all(&c->ca_pool);
}

/* The first of all last: while it is held, no other is made that would be let go without having been taken. */
void cache_unlock_all(struct slub_cache *c)
{
    pool_unlock_all(&c->ca_pool);
    for (unsigned i = POOL_MAX_HOMES; i-- > 0;)
        if (c->ca_barn[i] != NULL)
            lock_release(&c->ca_barn[i]->bn_lock);
}
