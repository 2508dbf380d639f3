/* SPDX-License-Identifier: MIT */
/* A pool: the slabs of one cache by home, with their lists.
 *
 * Layer: L4; called by cache. Lower layers know a cache by its pool and its id only.
 *
 * A slab is one granule (64 KiB). Its record lies in metadata:
 *
 *     | struct slab | state bytes, one an object and a 0 | free bits, one an object |
 *                   ^ the address map points here
 *
 * An object is live (state 1), or free in its slab (its bit set), or free elsewhere, in a sheaf or a barn
 * (neither), or behind the slab's frontier: never used since its pages were fresh.
 *
 *   list        free objects        pages          goes to
 *   ------------------------------------------------------------------------------------------
 *   FULL        none                yes            PARTIAL when an object comes back
 *   PARTIAL 0-3 some, by quarters   yes            FULL when all are taken, EMPTY when all are back
 *   EMPTY       all                 yes (dirty)    PARTIAL when taken from; CLEAN when purged
 *   CLEAN       all                 no             PARTIAL when taken from
 *
 * Taking prefers the fullest slabs, so that the others can become empty; then the latest EMPTY one, then
 * CLEAN, then a new granule. Locking: the home lock protects lists, slab records and counters; it is
 * never held across a system call but for the random source of slab_freelist_random=strong.
 * Invariants: P1 a slab on EMPTY or CLEAN has no object elsewhere; P2 a granule belongs to its pool until
 * the pool is torn down; P3 nothing is ever written into a free object. */
#ifndef SLUB_SLAB_POOL_H
#define SLUB_SLAB_POOL_H

#include "base/list.h"
#include "base/lock.h"
#include "base/random.h"
#include "region/gmap.h"
#include "slab/entry.h"
#include "slab/geometry.h"

/* Homes of slabs: one a CPU, or some CPUs of a memory node together. Objects of one slab go to one home's CPUs, so
 * that neighbours in a cache line, of objects and of state bytes, are not written by two CPUs at once. */
#define POOL_MAX_HOMES 16

enum slab_list { SLAB_PARTIAL, SLAB_FULL = 4, SLAB_EMPTY, SLAB_CLEAN, SLAB_N_LISTS };

struct slab {
    struct list sl_link;      /* [lock:home] */
    uint64_t *sl_free;        /* free bits [lock:home] */
    uint32_t sl_granule;      /* number of its granule [const] */
    uint16_t sl_n_free;       /* bits set [lock:home] */
    uint16_t sl_frontier;     /* objects from here on were never used since pages were fresh [lock:home] */
    uint8_t sl_list;          /* enum slab_list, with the quarter added [lock:home] */
    uint8_t sl_home;          /* home; changes only while no object is out [lock:home] */
    bool sl_is_populated;     /* its pages were asked for since they were fresh [lock:home] */
    uint32_t sl_emptied;      /* when it became EMPTY: the number of that event [lock:home] */
    uint8_t sl_state[];       /* 1 live, 0 free; written by the owner of the object */
};

struct pool_counters {
    uint64_t pc_take, pc_give, pc_new, pc_reuse, pc_empty, pc_free, pc_remote, pc_fallback, pc_fail;
};

struct pool_home {
    struct lock ph_lock;
    uint32_t ph_n_slabs[SLAB_N_LISTS]; /* on each list */
    struct list ph_lists[SLAB_N_LISTS];
    struct random_stream ph_random;
    uint64_t ph_n_out; /* objects that are live or in sheaves and barns */
    struct pool_counters ph_count;
};

struct pool {
    uint32_t po_id;           /* in the address map; first member, the assembly reads it [const] */
    bool po_random, po_random_strong; /* slab_freelist_random [const] */
    uint64_t po_quarter;      /* (free * po_quarter) >> 32 is the quarter of a slab that is free [const] */
    struct geometry po_geometry; /* [const] */
    struct pool_home *_Atomic po_home[POOL_MAX_HOMES]; /* 0 is there from the start */
    struct pool_home po_home0;
};

/* geometry.recip by id, for the fast path of free. Zero for ids that are not in use: no address is a start then. */
extern uint32_t slub_recip[SLUB_MAX_CACHES];

void pool_init(struct pool *pool, uint32_t id, const struct geometry *g);

/* Memory nodes; homes on the same one differ by a multiple of this. [const after init, by cache] */
extern unsigned pool_n_nodes;

/* Take up to n free objects for use at `home`. Fewer, or none, when memory is out. The last of `out` is meant
 * to be used first. */
size_t pool_take(struct pool *pool, unsigned home, struct entry *out, size_t n);

/* The same from slabs in use that are at this home already; pages that were never used may be. */
size_t pool_take_partial(struct pool *pool, unsigned home, struct entry *out, size_t n);

/* Give back n objects, at home `from`; all are free and belong to this pool. May return memory to the system. */
void pool_give(struct pool *pool, unsigned from, const struct entry *e, size_t n);

/* Return the pages of all empty slabs to the system, and with `pages` those of free pages in partial slabs
 * too. Returns bytes. */
uint64_t pool_trim(struct pool *pool, bool pages);

/* Detach the granules of a pool without objects and put them into quarantine for other pools of the same
 * process to use at last resort. The pool may not be used afterwards. */
void pool_tear_down(struct pool *pool);

/* Objects that are live or in sheaves and barns. */
uint64_t pool_n_out(struct pool *pool);

struct pool_totals {
    uint64_t n_slabs, n_partial, n_empty, n_clean, n_out;
    struct pool_counters count;
};
void pool_totals(struct pool *pool, struct pool_totals *t);

/* Fork: take and give all locks of the pool; in the child, make its random numbers differ. */
void pool_lock_all(struct pool *pool);
void pool_unlock_all(struct pool *pool);
void pool_rekey(struct pool *pool);

/* Asked when a pool alone cannot help itself; set by the layer that knows all pools. True when something was done.
 * RELIEF_DIRTY: purge the empty slabs of all pools, longest empty first, until dirty bytes are below what is allowed.
 * RELIEF_KEPT: memory in use grows, so barns give up some of what they keep, if that is much. RELIEF_SPACE (last
 * resort, when address space or memory is out): free runs of large blocks become spare granules, else empty slabs do,
 * else first all that CPUs and barns keep goes back to slabs, the asker's too; so a pool looks at its slabs again after
 * it. RELIEF_SLABS is the same without the runs. */
enum pool_relief { RELIEF_DIRTY, RELIEF_KEPT, RELIEF_SPACE, RELIEF_SLABS };
extern bool (*pool_relief)(struct pool *asker, enum pool_relief what);

/* meta_alloc() that makes room in place of objects' memory that nobody uses. `asker` may be NULL. No lock is
 * held. */
void *pool_record(struct pool *asker, size_t bytes);

/* When the slab was emptied that has been empty longest, as a number that grows with every slab that is emptied and
 * may wrap. False when there is none. */
bool pool_oldest_empty(struct pool *pool, uint32_t *emptied);

/* Purge some empty slabs, longest empty first. Bytes returned. */
uint64_t pool_purge_oldest(struct pool *pool);

/* Give the granules of clean slabs to whoever asks for one. True when there were any. */
bool pool_relieve_space(struct pool *pool);

/* The slab of an object. */
SLUB_FAST struct slab *slab_of_entry(gmap_entry e)
{
    return container_of(gmap_owner(e), struct slab, sl_state);
}

/* The home of an object that is out of its slab. */
SLUB_FAST unsigned pool_home_of(const struct entry *e)
{
    return slab_of_entry(gmap_get(gmap_granule(e->en_obj)))->sl_home;
}

SLUB_FAST uint32_t slab_offset(const void *p) { return (uint32_t)((uintptr_t)p & (SLUB_GRANULE_BYTES - 1)); }

#endif
