/* SPDX-License-Identifier: MIT */
/* The reservation: heap, address map, per-CPU area and metadata in one piece of address space.
 *
 * Layer: L3; called by slab and large for granules, by percpu for its area.
 *
 *     low                                                                          high
 *     | guard | address map | guard | per-CPU area | guard | metadata | guard | heap … | guard |
 *
 * All of it is without access at first. The heap is handed out in ascending order and made accessible in
 * steps that grow with it; a granule keeps its address for ever and, as long as address space lasts, its
 * owner. Locking: the region lock, which is a leaf but for meta's. */
#ifndef SLUB_REGION_REGION_H
#define SLUB_REGION_REGION_H

#include "base/lock.h"
#include "region/gmap.h"

#define REGION_NO_GRANULE UINT64_MAX

struct region_sizes {
    uint64_t heap_bytes;   /* address space for objects */
    uint64_t percpu_bytes; /* all CPUs together */
};

/* Reserve. Sizes shrink by halves until the system agrees. 0 or -ENOMEM. */
int region_init(struct region_sizes want, bool hugepages);

/* Take the next n granules; REGION_NO_GRANULE when address space or memory is out. *fell_back (may be NULL) is set
 * when less could be made accessible ahead than was wanted. */
uint64_t region_take(uint64_t n, bool *fell_back);

/* Take exactly the granule numbered `at` if it is the next one, and n - 1 after it. */
bool region_extend(uint64_t at, uint64_t n);

char *region_percpu_area(void);
size_t region_percpu_bytes(void);
uint64_t region_reserved_bytes(void);
uint64_t region_mapped_bytes(void);

extern struct lock region_lock;

#endif
