/* SPDX-License-Identifier: MIT */
/* Granules between owners: nobody owns them now, any pool or large block may.
 *
 * Layer: L3; called by slab and large. They are handed out oldest first. Pages may be dirty.
 * Locking: the spare lock, a leaf. */
#ifndef SLUB_REGION_SPARE_H
#define SLUB_REGION_SPARE_H

#include "base/lock.h"

/* The caller has made the map entry unowned. False when there is no memory for a record. */
bool spare_put(uint64_t granule);

/* Hollow spares have no memory and no access, so that something else may have as much; spare_take()
 * fills them again. False when there is none to hollow out. */
bool spare_hollow(void);

/* A granule when more than `keep` wait, else REGION_NO_GRANULE. */
uint64_t spare_take(size_t keep);

extern struct lock spare_lock;

#endif
