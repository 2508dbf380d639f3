/* SPDX-License-Identifier: MIT */
/* The reservation: heap, address map, per-CPU area and metadata in one piece of address space.
 *
 * Layer: L3; called by slab and large for granules, by percpu for its area.
 *
 *     low                                                                          high
 *     | guard | address map | guard | per-CPU area | guard | metadata | guard | heap … | guard |
 *
 * All of it is without access at first. Under a limit on address space nothing is reserved but the
 * per-CPU area, which then lies elsewhere: a place far from where the system maps is chosen, and
 * mapped piece by piece, so that the heap can take all that the limit leaves. The heap is handed
 * out in ascending order and made accessible in steps that grow with it; a granule keeps its
 * address for ever and, as long as address space lasts, its owner. Locking: the region lock, which
 * is a leaf but for meta's. */
#ifndef SLUB_REGION_REGION_H
#define SLUB_REGION_REGION_H

#include "base/lock.h"
#include "region/gmap.h"

#define REGION_NO_GRANULE UINT64_MAX

struct region_sizes {
    uint64_t heap_bytes;   /* address space for objects */
    uint64_t percpu_bytes; /* all CPUs together */
    uint64_t limit;        /* on address space; UINT64_MAX when none */
};

/* Reserve. Sizes shrink by halves until the system agrees. 0 or -ENOMEM. */
int region_init(struct region_sizes want, bool hugepages);

/* Take the next n granules; REGION_NO_GRANULE when address space or memory is out. *fell_back (may be NULL) is set
 * when less could be made accessible ahead than was wanted. */
uint64_t region_take(uint64_t n, bool *fell_back);

/* Take exactly the granule numbered `at` if it is the next one, and n - 1 after it. */
bool region_extend(uint64_t at, uint64_t n);

/* Make part of the reservation readable and writable. 0 or a negative errno. */
int region_commit(void *p, size_t bytes);

/* Take access, pages and, where they count against a limit, addresses back, until region_commit().
 */
int region_decommit(void *p, size_t bytes);

/* Blocks of at least this size do better with a mapping of their own, which leaves the address
 * space when it is freed. */
uint64_t region_direct_bytes(void);

char *region_percpu_area(void);
size_t region_percpu_bytes(void);
uint64_t region_reserved_bytes(void);
uint64_t region_mapped_bytes(void);

extern struct lock region_lock;

#endif
