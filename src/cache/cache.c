/* SPDX-License-Identifier: MIT */
/* Slow paths of a cache; see cache.h. Layer: L7. Locking: none of its own. */
#include "cache/cache.h"

#include "cache/init.h"
#include "cache/registry.h"
#include "os/os.h"
#include "percpu/percpu.h"
#include "region/meta.h"
#include "service/options.h"

static unsigned n_nodes; /* [const after the first cache] */

static unsigned order_for(size_t stride, unsigned least_capacity)
{
    unsigned order = 0;
    while (order < SHEAF_MAX_ORDER && (2 * SHEAF_OBJS(order + 1) * stride <= options.sheaf_bytes ||
                                       2 * SHEAF_OBJS(order) < least_capacity))
        order++;
    return order;
}

void cache_init(struct slub_cache *c, uint32_t id, const struct geometry *g, size_t object_bytes,
                size_t align_bytes, unsigned sheaf_capacity)
{
    if (n_nodes == 0)
        n_nodes = (unsigned)min_size(os_node_bound(), POOL_MAX_NODES);
    c->ca_object_bytes = (uint32_t)object_bytes;
    c->ca_align_bytes = (uint32_t)align_bytes;
    c->ca_max_order = order_for(g->stride_bytes, sheaf_capacity);
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
    if (atomic_compare_exchange_strong(&c->ca_barn[node], &bn, fresh))
        return fresh;
    meta_free(fresh, sizeof *fresh);
    return bn;
}

/* From the barn, else from slabs; for a caller whose slot is empty. */
static size_t refill(struct slub_cache *c, void **objs, size_t n)
{
    unsigned node = node_here();
    size_t got = barn_get(barn_get_node(c, node), objs, n);
    return got != 0 ? got : pool_take(&c->ca_pool, node, objs, n);
}

/* To the barn, else to slabs. */
static void flush(struct slub_cache *c, void *const *objs, size_t n)
{
    struct barn *bn = barn_get_node(c, node_here());
    size_t done = barn_put(bn, objs, n);
    if (done < n)
        pool_give(&c->ca_pool, objs + done, n - done);
    if (barn_is_due(bn)) {
        void *idle[SHEAF_MAX_OBJS];
        size_t k;
        while ((k = barn_trim(bn, idle, SHEAF_MAX_OBJS)) != 0)
            pool_give(&c->ca_pool, idle, k);
    }
}

static size_t batch_now(struct slub_cache *c, bool *grown)
{
    size_t batch = percpu_batch(c->ca_pool.po_id, c->ca_max_order, grown);
    if (*grown)
        atomic_fetch_add_explicit(&c->ca_grown, 1, memory_order_relaxed);
    return batch;
}

void *cache_take(struct slub_cache *c)
{
    uint32_t id = c->ca_pool.po_id;
    if (unlikely(percpu_must_adopt))
        init_adopt();
    if (percpu_backend() != BACKEND_RSEQ) {
        void *obj = percpu_pop(id);
        if (obj != NULL) {
            if (options.stats)
                atomic_fetch_add_explicit(&c->ca_alloc_fast, 1, memory_order_relaxed);
            return obj;
        }
    }
    bool grown;
    void *objs[SHEAF_MAX_OBJS];
    size_t n = refill(c, objs, min_size(batch_now(c, &grown), SHEAF_MAX_OBJS));
    if (n == 0)
        return NULL;
    n--;
    if (n != 0) {
        size_t done = percpu_push_bulk(id, objs, n);
        if (unlikely(done < n))
            flush(c, objs + done, n - done);
    }
    return objs[n];
}

void cache_put(struct slub_cache *c, void *obj)
{
    uint32_t id = c->ca_pool.po_id;
    if (unlikely(percpu_must_adopt))
        init_adopt();
    if (percpu_backend() != BACKEND_RSEQ && percpu_push(id, obj)) {
        if (options.stats)
            atomic_fetch_add_explicit(&c->ca_free_fast, 1, memory_order_relaxed);
        return;
    }
    bool grown;
    void *objs[SHEAF_MAX_OBJS + 1];
    size_t batch = batch_now(c, &grown);
    if (grown && percpu_push(id, obj))
        return;
    size_t n = percpu_pop_bulk(id, objs, min_size(batch, SHEAF_MAX_OBJS));
    if (n == 0 || !percpu_push(id, obj))
        objs[n++] = obj;
    flush(c, objs, n);
}

size_t cache_take_bulk(struct slub_cache *c, void **objs, size_t n)
{
    if (unlikely(percpu_must_adopt))
        init_adopt();
    size_t got = percpu_pop_bulk(c->ca_pool.po_id, objs, n);
    while (got < n) {
        size_t k = refill(c, objs + got, n - got);
        if (k == 0)
            break;
        got += k;
    }
    return got;
}

void cache_put_bulk(struct slub_cache *c, void *const *objs, size_t n)
{
    if (unlikely(percpu_must_adopt))
        init_adopt();
    size_t done = percpu_push_bulk(c->ca_pool.po_id, objs, n);
    if (done < n) {
        bool grown;
        batch_now(c, &grown);
        flush(c, objs + done, n - done);
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
        void *objs[SHEAF_MAX_OBJS];
        size_t n;
        if (bn == NULL)
            continue;
        while ((n = barn_get(bn, objs, SHEAF_MAX_OBJS)) != 0)
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
