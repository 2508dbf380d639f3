/* SPDX-License-Identifier: MIT */
/* Slow paths of a cache; see cache.h. Layer: L7. Locking: none of its own. */
#include "cache/cache.h"

#include "cache/init.h"
#include "cache/registry.h"
#include "os/os.h"
#include "percpu/percpu.h"
#include "region/meta.h"
#include "service/options.h"

static unsigned n_nodes; /* [const after init] */

void cache_init_machine(void) { n_nodes = (unsigned)min_size(os_node_bound(), POOL_MAX_NODES); }

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

/* Memory node of the caller, as index into pools and barns. */
static unsigned node_here(void)
{
    if (likely(n_nodes <= 1))
        return 0;
    unsigned cpu, node;
    os_where(&cpu, &node);
    return node % n_nodes;
}

static struct barn *barn_get_node(struct slub_cache *c, unsigned node)
{
    struct barn *bn = atomic_load_explicit(&c->ca_barn[node], memory_order_acquire);
    if (likely(bn != NULL))
        return bn;
    struct barn *fresh = meta_alloc(sizeof *fresh);
    if (fresh == NULL)
        return &c->ca_barn0;
    barn_init(fresh, c->ca_pool.po_geometry.stride_bytes, c->ca_max_order);
    /* Under the first lock that fork takes of a cache: what it lets go is then what it took. */
    lock_acquire(&c->ca_barn0.bn_lock);
    bn = atomic_load_explicit(&c->ca_barn[node], memory_order_relaxed);
    if (bn == NULL)
        atomic_store_explicit(&c->ca_barn[node], fresh, memory_order_release);
    lock_release(&c->ca_barn0.bn_lock);
    if (bn == NULL)
        return fresh;
    meta_free(fresh, sizeof *fresh);
    return bn;
}

/* Objects that slow paths move over the stack at a time: half a KiB. */
enum { CHUNK = 64 };

static void give_idle(struct slub_cache *c, struct barn *bn)
{
    void *idle[CHUNK];
    size_t k;
    while ((k = barn_trim(bn, idle, CHUNK)) != 0)
        pool_give(&c->ca_pool, idle, k);
}

/* To the barn, else to slabs. */
void cache_put_away(struct slub_cache *c, void *const *objs, size_t n)
{
    struct barn *bn = barn_get_node(c, node_here());
    size_t done = barn_put(bn, objs, n);
    if (done < n)
        pool_give(&c->ca_pool, objs + done, n - done);
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

static void *refill_from_slabs(struct slub_cache *c, unsigned node, size_t n)
{
    void *objs[CHUNK];
    n = pool_take(&c->ca_pool, node, objs, min_size(n, CHUNK));
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
    unsigned node = node_here();
    size_t batch = batch_now(c, &grown);
    obj = refill_from_barn(c, barn_get_node(c, node), batch);
    return obj != NULL ? obj : refill_from_slabs(c, node, batch);
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
static void flush_to_slabs(struct slub_cache *c, size_t n)
{
    void *objs[CHUNK];
    n = percpu_pop_bulk(c->ca_pool.po_id, objs, min_size(n, CHUNK));
    if (n != 0)
        pool_give(&c->ca_pool, objs, n);
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
    struct barn *bn = barn_get_node(c, node_here());
    struct sheaf *sh = barn_open_room(bn, batch);
    if (sh != NULL) {
        size_t n = min_size(batch, SHEAF_OBJS(bn->bn_sheaf_order) - sh->sh_n_objs);
        barn_close_put(bn, sh, percpu_pop_bulk(id, sh->sh_objs + sh->sh_n_objs, n));
    } else {
        flush_to_slabs(c, batch);
    }
    if (!percpu_push(id, obj))
        cache_put_away(c, &obj, 1);
    if (barn_is_due(bn))
        give_idle(c, bn);
}

size_t cache_take_bulk(struct slub_cache *c, void **objs, size_t n)
{
    unsigned node = node_here();
    struct barn *bn = barn_get_node(c, node);
    init_gate_check();
    size_t got = n != 0 ? percpu_pop_bulk(c->ca_pool.po_id, objs, n) : 0;
    while (got < n) {
        size_t k = barn_get(bn, objs + got, n - got);
        if (k == 0)
            k = pool_take(&c->ca_pool, node, objs + got, n - got);
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
        pool_give(&c->ca_pool, objs, n);
}

bool cache_drain(struct slub_cache *c, bool close)
{
    bool ok = percpu_drain(c->ca_pool.po_id, close, cache_sink) == 0;
    for (unsigned i = 0; i < POOL_MAX_NODES; i++) {
        struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_acquire);
        void *objs[CHUNK];
        size_t n;
        if (bn == NULL)
            continue;
        while ((n = barn_get(bn, objs, CHUNK)) != 0)
            pool_give(&c->ca_pool, objs, n);
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
    for (unsigned i = 0; i < POOL_MAX_NODES; i++) {
        struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_acquire);
        if (bn != NULL)
            n += barn_n_objs(bn);
    }
    return n;
}

void cache_lock_all(struct slub_cache *c)
{
    for (unsigned i = 0; i < POOL_MAX_NODES; i++)
        if (c->ca_barn[i] != NULL)
            lock_acquire(&c->ca_barn[i]->bn_lock);
    pool_lock_all(&c->ca_pool);
}

void cache_unlock_all(struct slub_cache *c)
{
    pool_unlock_all(&c->ca_pool);
    for (unsigned i = 0; i < POOL_MAX_NODES; i++)
        if (c->ca_barn[i] != NULL)
            lock_release(&c->ca_barn[i]->bn_lock);
}
