/* SPDX-License-Identifier: MIT */
/* The address map: from any of 2^64 addresses to the slab or large block it lies in.
 *
 * Layer: L3; read by every layer above and by the assembly of the fast path.
 *
 * The heap is one reservation, cut into granules of 64 KiB. The map has one word per granule:
 *
 *      63                        16 15            0
 *     +----------------------------+---------------+
 *     | address of the owner's     | id of the     |
 *     | state bytes (48 bits)      | cache         |
 *     +----------------------------+---------------+
 *
 *   slab           id of its cache, address of its array of state bytes (struct slab lies just before)
 *   large block    GMAP_LARGE in its first granule, GMAP_LARGE_TAIL in the others; the address is that of
 *                  its struct, whose first byte is never 1 ("live"), so that the fast path of free leaves
 *   anything else  GMAP_NONE, address of a byte that is 0
 *
 * Invariants: I1 every granule below `hot.n_granules` has an entry with a readable address; I2 entries are
 * set before an address of the granule is handed out, so a caller who owns a block sees its entry.
 * Locking: none for readers; writers own the granules they set. Order of publication: layout.h. */
#ifndef SLUB_REGION_GMAP_H
#define SLUB_REGION_GMAP_H

#include <stdatomic.h>

#include "base/compiler.h"
#include "region/layout.h"

typedef uint64_t gmap_entry;

/* What the fast path reads on every call, in one cache line; see layout.h. */
struct hot {
    _Atomic uintptr_t heap_base;         /* first byte of the heap, HOT_NO_HEAP before [const after init] */
    _Atomic uint64_t n_granules;         /* granules that have an entry; only grows */
    _Atomic gmap_entry *_Atomic gmap;    /* [const after init] */
    _Atomic long rseq_cs_offset;         /* of the rseq_cs word, from the thread pointer */
    _Atomic long rseq_id_offset;         /* of the word that numbers the areas, likewise */
    char *_Atomic percpu_base;           /* area 0 */
    uint64_t reserved[2];
};
extern struct hot slub_hot;

SLUB_FAST gmap_entry gmap_pack(const void *owner, unsigned id) { return (uint64_t)(uintptr_t)owner << 16 | id; }
SLUB_FAST unsigned gmap_id(gmap_entry e) { return (unsigned)(e & 0xffff); }
SLUB_FAST void *gmap_owner(gmap_entry e) { return (void *)(uintptr_t)(e >> 16); }

SLUB_FAST uint64_t gmap_granule(const void *p)
{
    return ((uintptr_t)p - atomic_load_explicit(&slub_hot.heap_base, memory_order_relaxed)) >> SLUB_GRANULE_SHIFT;
}

SLUB_FAST void *gmap_address(uint64_t granule)
{
    uintptr_t base = atomic_load_explicit(&slub_hot.heap_base, memory_order_relaxed);
    return (void *)(base + (granule << SLUB_GRANULE_SHIFT));
}

SLUB_FAST _Atomic gmap_entry *gmap_at(uint64_t granule)
{
    return atomic_load_explicit(&slub_hot.gmap, memory_order_relaxed) + granule;
}

SLUB_FAST gmap_entry gmap_get(uint64_t granule) { return atomic_load_explicit(gmap_at(granule), memory_order_relaxed); }

/* After what the entry names: readers go on from its bits. */
SLUB_FAST void gmap_set(uint64_t granule, gmap_entry e)
{
    atomic_store_explicit(gmap_at(granule), e, memory_order_release);
}

/* Entry of any address; GMAP_NONE with a null owner when it is not in the heap. */
SLUB_FAST gmap_entry gmap_find(const void *p)
{
    uint64_t granule = gmap_granule(p);
    if (unlikely(granule >= atomic_load_explicit(&slub_hot.n_granules, memory_order_acquire)))
        return GMAP_NONE;
    return gmap_get(granule);
}

/* The entry of granules that nobody owns. */
gmap_entry gmap_unowned(void);

#endif
