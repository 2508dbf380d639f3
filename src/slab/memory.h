/* SPDX-License-Identifier: MIT */
/* Where slabs come from and where their pages go.
 *
 * Layer: L4, inside the directory. Locking: takes node locks, region and meta locks below them. */
#ifndef SLUB_SLAB_MEMORY_H
#define SLUB_SLAB_MEMORY_H

#include "slab/pool.h"

/* A slab that is on no list, its map entry set; NULL when address space or memory is out. */
struct slab *memory_new_slab(struct pool *pool, unsigned node, bool *fell_back);

/* Purge empty slabs, oldest first, until dirty_bytes is an eighth below its cap or one empty slab a node is
 * left; with `all`, every one. Returns bytes. */
uint64_t memory_purge(struct pool *pool, bool all);

/* What an empty slab counts for: its pages when it was last looked at, before that all that was ever in use. */
SLUB_FAST uint64_t memory_dirty_bytes(const struct slab *s, const struct geometry *g)
{
    if (s->sl_pages != SLAB_PAGES_UNKNOWN)
        return (uint64_t)s->sl_pages * (SLUB_GRANULE_BYTES / 16);
    return (uint64_t)s->sl_frontier * g->stride_bytes;
}

#endif
