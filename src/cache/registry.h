/* SPDX-License-Identifier: MIT */
/* All caches by id: size classes, made at first use, and those that programs create.
 *
 * Layer: L7. Locking: registry_lock for changes; look-ups need none, a cache that somebody uses stays. */
#ifndef SLUB_CACHE_REGISTRY_H
#define SLUB_CACHE_REGISTRY_H

#include "base/lock.h"
#include "cache/cache.h"

extern struct slub_cache *_Atomic registry_by_id[SLUB_MAX_CACHES];
extern struct lock registry_lock;

/* Look at the machine, once: a sandbox may forbid it later. */
void registry_init_machine(void);

/* NULL for an id that is not in use. */
SLUB_FAST struct slub_cache *registry_get(unsigned id)
{
    return atomic_load_explicit(&registry_by_id[id], memory_order_acquire);
}

/* The cache of a size class, made at first use. NULL only for ids that are none. */
struct slub_cache *registry_class(unsigned id);

/* Make a cache. 0, or -ENOMEM, -ENOSPC; the arguments have been checked. */
int registry_create(struct slub_cache **out, const char *name, const struct geometry *g, size_t object_bytes,
                    size_t align_bytes, unsigned sheaf_capacity);

/* Remove a cache that nobody uses any more. 0, or -EBUSY when *n_live objects are not back, or (0 of them) when a
 * CPU's slot could not be drained. Never -EBUSY for what other threads trim or drain meanwhile. */
int registry_remove(struct slub_cache *c, uint64_t *n_live);

/* Call fn for every cache, in order of id, under registry_lock, so that the cache does not go away meanwhile. The first
 * form lets the lock go between caches: who waits for it waits for one cache. The second is for holders of the lock. */
void registry_each(void (*fn)(struct slub_cache *c, void *arg), void *arg);
void registry_each_locked(void (*fn)(struct slub_cache *c, void *arg), void *arg);

/* Geometry by the options and the machine. */
int registry_geometry(struct geometry *g, size_t size, size_t align);

/* "kmalloc-64", "kmalloc-1k", or the name given. */
void registry_name(const struct slub_cache *c, char name[CACHE_NAME_MAX]);

#endif
