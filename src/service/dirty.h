/* SPDX-License-Identifier: MIT */
/* Accounts of memory that nobody uses but that keeps its pages: empty slabs, and free large blocks.
 * Layer: L2. Locking: atomic counters. */
#ifndef SLUB_SERVICE_DIRTY_H
#define SLUB_SERVICE_DIRTY_H

#include <stdatomic.h>

#include "base/compiler.h"

/* How much may be kept: a least amount or a sixteenth of what is in use, whichever is more, and a learnt credit.
 * What is taken into use again after it was purged adds its bytes to the credit, which leaks away at DIRTY_LEAK a
 * millisecond. So giving back and wanting again never costs more than that rate does, whatever the program does; and
 * what is kept for use that went up and down is given up again when that ends (docs/adr/0003). */
#define DIRTY_SHARE 16
#define DIRTY_LEAK (16u << 10)

struct dirty {
    _Atomic int64_t di_bytes;
    _Atomic int64_t di_in_use;     /* bytes that the share is of */
    _Atomic uint64_t di_credit;    /* as it was at di_credit_ms */
    _Atomic uint64_t di_credit_ms; /* os_clock_ms() */
    uint64_t di_least;             /* [const] */
    const uint64_t *di_cap;        /* the option [const] */
};
extern struct dirty dirty_slabs, dirty_large;

SLUB_FAST void dirty_add(struct dirty *d, int64_t bytes)
{
    atomic_fetch_add_explicit(&d->di_bytes, bytes, memory_order_relaxed);
}

SLUB_FAST void dirty_add_in_use(struct dirty *d, int64_t bytes)
{
    atomic_fetch_add_explicit(&d->di_in_use, bytes, memory_order_relaxed);
}

SLUB_FAST uint64_t dirty_bytes(const struct dirty *d)
{
    int64_t bytes = atomic_load_explicit(&d->di_bytes, memory_order_relaxed);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* The share of what is in use. */
uint64_t dirty_share(const struct dirty *d);

/* Memory that was purged is taken into use again. */
void dirty_regret(struct dirty *d, uint64_t bytes);

uint64_t dirty_allowed(struct dirty *d);

SLUB_FAST bool dirty_is_over(struct dirty *d) { return dirty_bytes(d) > dirty_allowed(d); }

/* Purging goes on below the limit by an eighth, so that it happens in bulk. */
SLUB_FAST bool dirty_is_near(struct dirty *d) { return dirty_bytes(d) > dirty_allowed(d) / 8 * 7; }

#endif
