/* SPDX-License-Identifier: MIT */
/* Slow paths of a cache; see cache.h. Layer: L7. Locking: none of its own. */
#include "cache/cache.h"

#include "cache/init.h"
#include "cache/object.h"
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

/* Objects that slow paths move over the stack at a time: a KiB. */
enum { CHUNK = 64 };

/* What barns did not need for a second; also those of CPUs that are idle now. */
static void give_idle(struct slub_cache *c)
{
    struct entry idle[CHUNK];
    size_t k;
    for (unsigned i = 0; i < n_homes; i++) {
        struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_acquire);
        if (bn != NULL && barn_is_due(bn))
            while ((k = barn_trim(bn, idle, CHUNK)) != 0)
                pool_give(&c->ca_pool, i, idle, k);
    }
}

size_t cache_give_up(struct slub_cache *c, size_t n)
{
    enum { FEW = CHUNK / 4 }; /* this lies below a slow path that has a chunk on the stack already */
    struct entry e[FEW];
    size_t done = 0;
    for (unsigned i = 0; i < n_homes && done < n; i++) {
        struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_acquire);
        size_t most = bn != NULL ? min_size((barn_n_objs(bn) + 1) / 2, n - done) : 0, k;
        for (; most != 0 && (k = barn_give_up(bn, e, min_size(most, FEW))) != 0; most -= k, done += k)
            pool_give(&c->ca_pool, i, e, k);
    }
    return done;
}

/* To the barn of a home, else to slabs. */
static void put_at(struct slub_cache *c, unsigned home, const struct entry *e, size_t n)
{
    size_t done = barn_put(barn_get_at(c, home), e, n);
    if (done < n)
        pool_give(&c->ca_pool, home, e + done, n - done);
}

void cache_put_away(struct slub_cache *c, const struct entry *e, size_t n) { put_at(c, home_here(), e, n); }

static size_t batch_now(struct slub_cache *c, bool *grown)
{
    size_t batch = percpu_batch(c->ca_pool.po_id, c->ca_cheap_order, c->ca_max_order, grown);
    if (*grown)
        atomic_fetch_add_explicit(&c->ca_grown, 1, memory_order_relaxed);
    return batch;
}

static const struct entry nothing;

/* From the barn into the caller's slot; returns one of them, `nothing` when the barn is empty. */
static struct entry refill_from_barn(struct slub_cache *c, struct barn *bn, size_t n, bool counts)
{
    struct sheaf *sh = barn_open_filled(bn, counts);
    if (sh == NULL)
        return nothing;
    n = min_size(n, sh->sh_n_objs) - 1;
    struct entry *e = sh->sh_entries + sh->sh_n_objs - 1 - n;
    struct entry last = e[n];
    if (n != 0) {
        size_t k = percpu_push_bulk(c->ca_pool.po_id, e, n);
        /* What did not fit any more stays, below the one that leaves. */
        for (size_t i = k; i < n; i++)
            e[i - k] = e[i];
        n = k;
    }
    barn_close_taken(bn, sh, n + 1);
    return last;
}

static SLUB_SLOW struct entry refill_from_slabs(struct slub_cache *c, unsigned home, size_t n, bool may_grow)
{
    struct entry e[CHUNK];
    n = (may_grow ? pool_take : pool_take_partial)(&c->ca_pool, home, e, min_size(n, CHUNK));
    if (n == 0)
        return nothing;
    n--;
    size_t done = n != 0 ? percpu_push_bulk(c->ca_pool.po_id, e, n) : 0;
    if (unlikely(done < n))
        cache_put_away(c, e + done, n - done);
    return e[n];
}

static bool try_shared_slot(struct slub_cache *c, struct entry *e)
{
    if (percpu_pop_bulk(c->ca_pool.po_id, e, 1) != 1)
        return false;
    if (options.stats)
        atomic_fetch_add_explicit(&c->ca_alloc_fast, 1, memory_order_relaxed);
    return true;
}

static struct entry take(struct slub_cache *c)
{
    struct entry e;
    bool grown;
    if (percpu_backend() != BACKEND_RSEQ && try_shared_slot(c, &e))
        return e;
    unsigned home = home_here();
    struct barn *bn = barn_get_at(c, home);
    size_t batch = batch_now(c, &grown);
    e = refill_from_barn(c, bn, batch, true);
    if (e.en_obj != NULL)
        return e;
    barn_learn(bn);
    e = refill_from_slabs(c, home, batch, false);
    if (e.en_obj != NULL)
        return e;
    struct barn *other = barn_of_others(c, home);
    e = other != NULL ? refill_from_barn(c, other, batch, false) : nothing;
    if (e.en_obj != NULL)
        return e;
    return refill_from_slabs(c, home, batch, true);
}

void *cache_take(struct slub_cache *c)
{
    init_gate_check();
    struct entry e = take(c);
    return e.en_obj != NULL ? object_hand_out(e) : NULL;
}

static bool put_shared_slot(struct slub_cache *c, struct entry e)
{
    if (percpu_push_bulk(c->ca_pool.po_id, &e, 1) != 1)
        return false;
    if (options.stats)
        atomic_fetch_add_explicit(&c->ca_free_fast, 1, memory_order_relaxed);
    return true;
}

/* Objects of other homes were freed here: each part of a batch goes where its neighbours are used. Two CPUs that
 * write to one cache line, of objects or of state bytes, cost each other more than this. */
static SLUB_SLOW void flush_sorted(struct slub_cache *c, struct barn *bn, unsigned home, size_t n)
{
    struct entry e[CHUNK];
    bool is_mixed = false;
    n = percpu_pop_bulk(c->ca_pool.po_id, e, min_size(n, CHUNK));
    for (size_t i = 0, end; i < n; i = end) {
        unsigned to = pool_home_of(&e[i]);
        end = i + 1;
        for (size_t k = end; k < n; k++)
            if (pool_home_of(&e[k]) == to) {
                struct entry t = e[k];
                e[k] = e[end];
                e[end++] = t;
            }
        is_mixed |= to != home;
        put_at(c, to, e + i, end - i);
    }
    atomic_store_explicit(&bn->bn_is_mixed, is_mixed, memory_order_relaxed);
}

/* A batch of the caller's slot to slabs, when the barn has no room. */
static SLUB_SLOW void flush_to_slabs(struct slub_cache *c, unsigned home, size_t n)
{
    struct entry e[CHUNK];
    n = percpu_pop_bulk(c->ca_pool.po_id, e, min_size(n, CHUNK));
    if (n != 0)
        pool_give(&c->ca_pool, home, e, n);
}

/* A batch of the caller's slot to its barn. One of them stands for all when it comes to where they belong. */
static void flush(struct slub_cache *c, struct barn *bn, unsigned home, size_t n)
{
    struct sheaf *sh = barn_open_room(bn, n);
    if (sh == NULL) {
        flush_to_slabs(c, home, n);
        return;
    }
    struct entry *e = sh->sh_entries + sh->sh_n_objs;
    n = percpu_pop_bulk(c->ca_pool.po_id, e, min_size(n, SHEAF_OBJS(bn->bn_sheaf_order) - sh->sh_n_objs));
    if (n_homes > 1 && n != 0 && pool_home_of(&e[n / 2]) != home)
        atomic_store_explicit(&bn->bn_is_mixed, true, memory_order_relaxed);
    barn_close_put(bn, sh, n);
}

void cache_put(struct slub_cache *c, struct entry e)
{
    uint32_t id = c->ca_pool.po_id;
    bool grown;
    init_gate_check();
    if (percpu_backend() != BACKEND_RSEQ && put_shared_slot(c, e))
        return;
    size_t batch = batch_now(c, &grown);
    if (grown && percpu_push_bulk(id, &e, 1) == 1) {
        atomic_fetch_add_explicit(&c->ca_free_grown, 1, memory_order_relaxed);
        return;
    }
    unsigned home = home_here();
    struct barn *bn = barn_get_at(c, home);
    if (atomic_load_explicit(&bn->bn_is_mixed, memory_order_relaxed))
        flush_sorted(c, bn, home, batch);
    else
        flush(c, bn, home, batch);
    if (percpu_push_bulk(id, &e, 1) != 1)
        cache_put_away(c, &e, 1);
    if (barn_is_due(bn))
        give_idle(c);
}

/* Past the caller's slot. */
static size_t take_kept(struct slub_cache *c, unsigned home, struct entry *e, size_t n)
{
    struct barn *bn = barn_get_at(c, home), *other;
    size_t k = barn_get(bn, e, n, true);
    if (k == 0) {
        barn_learn(bn);
        k = pool_take_partial(&c->ca_pool, home, e, n);
    }
    if (k == 0 && (other = barn_of_others(c, home)) != NULL)
        k = barn_get(other, e, n, false);
    return k != 0 ? k : pool_take(&c->ca_pool, home, e, n);
}

size_t cache_take_bulk(struct slub_cache *c, void **objs, size_t n)
{
    struct entry e[CHUNK];
    unsigned home = home_here();
    bool slot_has = true;
    init_gate_check();
    for (size_t got = 0, k; got < n;) {
        size_t want = min_size(n - got, CHUNK);
        k = slot_has ? percpu_pop_bulk(c->ca_pool.po_id, e, want) : 0;
        slot_has = k == want;
        if (k == 0 && (k = take_kept(c, home, e, want)) == 0)
            return got;
        for (size_t i = 0; i < k; i++)
            objs[got + i] = object_hand_out(e[i]);
        got += k;
    }
    return n;
}

void cache_put_bulk(struct slub_cache *c, const struct entry *e, size_t n)
{
    bool grown;
    init_gate_check();
    size_t done = n != 0 ? percpu_push_bulk(c->ca_pool.po_id, e, n) : 0;
    if (done < n) {
        batch_now(c, &grown);
        cache_put_away(c, e + done, n - done);
    }
}

void cache_sink(unsigned id, struct entry *e, size_t n)
{
    struct slub_cache *c = registry_get(id);
    if (c != NULL)
        pool_give(&c->ca_pool, home_here(), e, n);
}

/* Apart from cache_drain(), so that its chunk is not on the stack below that of the slots. */
static SLUB_SLOW void drain_barns(struct slub_cache *c)
{
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++) {
        struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_acquire);
        struct entry e[CHUNK];
        size_t n;
        if (bn == NULL)
            continue;
        while ((n = barn_give_up(bn, e, CHUNK)) != 0)
            pool_give(&c->ca_pool, i, e, n);
        barn_drop_spares(bn);
    }
}

bool cache_drain(struct slub_cache *c, bool close)
{
    bool ok = percpu_drain(c->ca_pool.po_id, close, cache_sink) == 0;
    drain_barns(c);
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
