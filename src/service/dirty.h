/* SPDX-License-Identifier: MIT */
/* Accounts of memory that nobody uses but that keeps its pages: empty slabs, and free large blocks.
 * Layer: L2. Locking: one atomic counter each. */
#ifndef SLUB_SERVICE_DIRTY_H
#define SLUB_SERVICE_DIRTY_H

#include <stdatomic.h>

#include "base/compiler.h"

struct dirty {
    _Atomic int64_t di_bytes;
    const uint64_t *di_cap; /* the option that limits it [const] */
};
extern struct dirty dirty_slabs, dirty_large;

SLUB_FAST void dirty_add(struct dirty *d, int64_t bytes)
{
    atomic_fetch_add_explicit(&d->di_bytes, bytes, memory_order_relaxed);
}

SLUB_FAST uint64_t dirty_bytes(const struct dirty *d)
{
    int64_t bytes = atomic_load_explicit(&d->di_bytes, memory_order_relaxed);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

SLUB_FAST bool dirty_is_over(const struct dirty *d) { return dirty_bytes(d) > *d->di_cap; }

/* Purging goes on below the cap by an eighth, so that it happens in bulk. */
SLUB_FAST bool dirty_is_near(const struct dirty *d) { return dirty_bytes(d) > *d->di_cap - *d->di_cap / 8; }

#endif
