/* SPDX-License-Identifier: MIT */
/* Memory for the allocator's own records, away from all objects.
 *
 * Layer: L3; called by slab, barn, percpu, cache, large. Blocks are 64-byte aligned and zero when fresh;
 * freed ones are kept by size and handed out again as they were left. Locking: the meta lock, a leaf. */
#ifndef SLUB_REGION_META_H
#define SLUB_REGION_META_H

#include "base/lock.h"

void meta_init(char *base, size_t bytes);

/* NULL when memory is out. `bytes` up to 64 KiB. */
void *meta_alloc(size_t bytes);
/* For the few records that memory is got back with when it is out: from a reserve when there is
 * nothing else. */
void *meta_alloc_last(size_t bytes);
void meta_free(void *p, size_t bytes);

uint64_t meta_used_bytes(void);

extern struct lock meta_lock;

#endif
