/* SPDX-License-Identifier: MIT */
/* A cache: pool of slabs, barns, and its slots in the per-CPU areas; the slow paths that join them.
 *
 * Layer: L7; called by api. Size classes are caches too (registry.h).
 *
 *     alloc   slot empty → a batch from this CPU's barn → none: from another's of this node → none: from the pool
 *             → one to the caller, the rest into the slot
 *     free    slot full → a batch out of the slot into the barn → no room there: into the pool
 *
 * Batches grow with use: a slot that misses often gets twice the room (percpu_batch). The callers own the
 * state bytes of what enters cache_put(): it is marked free. What leaves cache_take() is marked live. */
#ifndef SLUB_CACHE_CACHE_H
#define SLUB_CACHE_CACHE_H

#include "barn/barn.h"
#include "slab/pool.h"

#define CACHE_NAME_MAX 64

struct slub_cache {
    struct pool ca_pool;      /* first: its id is first */
    uint32_t ca_object_bytes; /* as asked for [const] */
    uint32_t ca_align_bytes;  /* promised [const] */
    uint8_t ca_max_order;     /* of its sheaves [const] */
    uint8_t ca_cheap_order;   /* that a slot gets without much ado [const] */
    bool ca_is_class;         /* a size class: never destroyed [const] */
    struct barn ca_barn0;
    struct barn *_Atomic ca_barn[POOL_MAX_HOMES]; /* by home; 0 is there from the start */
    _Atomic uint64_t ca_alloc_fast, ca_free_fast; /* slab_stats=1 */
    _Atomic uint64_t ca_grown, ca_free_grown; /* slots that got more room, and those by a free */
    char ca_name[CACHE_NAME_MAX]; /* empty for size classes: made from the size when asked */
};

/* Look at the machine, once: a sandbox may forbid it later. */
void cache_init_machine(void);

/* Fill a fresh, zeroed cache. */
void cache_init(struct slub_cache *c, uint32_t id, const struct geometry *g, size_t object_bytes,
                size_t align_bytes, unsigned sheaf_capacity);

/* One object, marked live; NULL when memory is out. */
void *cache_take(struct slub_cache *c);

/* Take back one object that is marked free. */
void cache_put(struct slub_cache *c, struct entry e);

/* Up to n objects, marked live; fewer only when memory is out. */
size_t cache_take_bulk(struct slub_cache *c, void **objs, size_t n);
void cache_put_bulk(struct slub_cache *c, const struct entry *e, size_t n);

/* Past the caller's slot, into the barn or slabs. */
void cache_put_away(struct slub_cache *c, const struct entry *e, size_t n);

/* Give up to n objects of the barns to slabs, at most half of what they keep. Returns how many. */
size_t cache_give_up(struct slub_cache *c, size_t n);

/* Empty the slots of all CPUs and the barns into the slabs. False when a CPU could not be drained. `close`:
 * nobody may use the cache afterwards. */
bool cache_drain(struct slub_cache *c, bool close);

/* Drain, then return pages. Bytes returned. */
uint64_t cache_trim(struct slub_cache *c);

/* Objects in slots and barns. */
uint64_t cache_n_cached(struct slub_cache *c);

void cache_lock_all(struct slub_cache *c);
void cache_unlock_all(struct slub_cache *c);

/* percpu_sink that gives objects to the slabs of their cache. */
void cache_sink(unsigned id, struct entry *e, size_t n);

#endif
