/* SPDX-License-Identifier: MIT */
/* Account of memory that nobody uses but that keeps its pages: empty slabs and free large blocks.
 * Layer: L2. Locking: one atomic counter. The cap is options.dirty_bytes. */
#ifndef SLUB_SERVICE_DIRTY_H
#define SLUB_SERVICE_DIRTY_H

#include <stdatomic.h>

#include "base/compiler.h"
#include "service/options.h"

extern _Atomic int64_t dirty_bytes;

SLUB_FAST void dirty_add(int64_t bytes) { atomic_fetch_add_explicit(&dirty_bytes, bytes, memory_order_relaxed); }

SLUB_FAST bool dirty_is_over(void)
{
    return atomic_load_explicit(&dirty_bytes, memory_order_relaxed) > (int64_t)options.dirty_bytes;
}

/* Purging goes on below the cap by an eighth, so that it happens in bulk. */
SLUB_FAST bool dirty_is_near(void)
{
    return atomic_load_explicit(&dirty_bytes, memory_order_relaxed) >
           (int64_t)(options.dirty_bytes - options.dirty_bytes / 8);
}

#endif
