/* SPDX-License-Identifier: MIT */
/* Accounts of memory that nobody uses but that keeps its pages: empty slabs, and free large blocks.
 * Layer: L2. Locking: one atomic counter each. */
#ifndef SLUB_SERVICE_DIRTY_H
#define SLUB_SERVICE_DIRTY_H

#include <stdatomic.h>

#include "base/compiler.h"

/* How much may be kept is learnt: it begins at an eighth of the option that limits it, and grows by what is taken into
 * use again after it was purged. So a program that grows or changes its sizes keeps little, and one whose use goes up
 * and down keeps what it will want again. */
struct dirty {
    _Atomic int64_t di_bytes;
    _Atomic uint64_t di_regret; /* bytes purged and wanted again */
    const uint64_t *di_cap;     /* the option [const] */
};
extern struct dirty dirty_slabs, dirty_large;

SLUB_FAST void dirty_add(struct dirty *d, int64_t bytes)
{
    atomic_fetch_add_explicit(&d->di_bytes, bytes, memory_order_relaxed);
}

/* Memory that was purged is taken into use again. */
SLUB_FAST void dirty_regret(struct dirty *d, uint64_t bytes)
{
    atomic_fetch_add_explicit(&d->di_regret, bytes, memory_order_relaxed);
}

SLUB_FAST uint64_t dirty_allowed(const struct dirty *d)
{
    uint64_t allowed = *d->di_cap / 8 + atomic_load_explicit(&d->di_regret, memory_order_relaxed);
    return allowed < *d->di_cap ? allowed : *d->di_cap;
}

SLUB_FAST uint64_t dirty_bytes(const struct dirty *d)
{
    int64_t bytes = atomic_load_explicit(&d->di_bytes, memory_order_relaxed);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

SLUB_FAST bool dirty_is_over(const struct dirty *d) { return dirty_bytes(d) > dirty_allowed(d); }

/* Purging goes on below the limit by an eighth, so that it happens in bulk. */
SLUB_FAST bool dirty_is_near(const struct dirty *d) { return dirty_bytes(d) > dirty_allowed(d) / 8 * 7; }

#endif
