/* SPDX-License-Identifier: MIT */
/* Where slabs come from and where their pages go.
 *
 * Layer: L4, inside the directory. Locking: takes home locks, region and meta locks below them. */
#ifndef SLUB_SLAB_MEMORY_H
#define SLUB_SLAB_MEMORY_H

#include "slab/pool.h"

/* A slab that is on no list, its map entry set; NULL when address space or memory is out. */
struct slab *memory_new_slab(struct pool *pool, unsigned home, bool *fell_back);

/* Purge empty slabs of this pool, longest empty first, until dirty bytes are an eighth below what is allowed; with
 * `all`, every one. Returns bytes. */
uint64_t memory_purge(struct pool *pool, bool all);

/* What an empty slab counts for. Nobody says which pages a program touched (mincore would, but sandboxes that allow
 * memory calls end programs for it), so of what was ever in use this takes each object's first page whole and an
 * eighth of the rest. */
SLUB_FAST uint64_t memory_object_bytes(const struct geometry *g)
{
    enum { FIRST = 4096 };
    return g->stride_bytes <= FIRST ? g->stride_bytes : FIRST + (g->stride_bytes - FIRST) / 8;
}
SLUB_FAST uint64_t memory_dirty_bytes(const struct slab *s, const struct geometry *g)
{
    return s->sl_frontier * memory_object_bytes(g);
}

/* And one in use, with all of its objects. */
SLUB_FAST uint64_t memory_slab_bytes(const struct geometry *g) { return g->n_objs * memory_object_bytes(g); }

#endif
