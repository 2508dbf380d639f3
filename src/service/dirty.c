/* SPDX-License-Identifier: MIT */
/* The counters of dirty.h. Layer: L2. */
#include "service/dirty.h"

#include "os/os.h"
#include "service/options.h"

/* Large blocks come and go by megabytes, and their pages one fault at a time. */
struct dirty dirty_slabs = {.di_least = 2 << 20, .di_cap = &options.dirty_bytes};
struct dirty dirty_large = {.di_least = 4 << 20, .di_cap = &options.large_dirty_bytes};

uint64_t dirty_share(const struct dirty *d)
{
    int64_t in_use = atomic_load_explicit(&d->di_in_use, memory_order_relaxed);
    return max_size(d->di_least, in_use > 0 ? (uint64_t)in_use / DIRTY_SHARE : 0);
}

/* The credit of now. Each stretch of time is taken off by one thread, the one that moved di_credit_ms over it. */
static uint64_t leak(struct dirty *d)
{
    uint64_t now = os_clock_ms();
    uint64_t then = atomic_load_explicit(&d->di_credit_ms, memory_order_relaxed);
    uint64_t credit = atomic_load_explicit(&d->di_credit, memory_order_relaxed);
    if (now <= then || !atomic_compare_exchange_strong_explicit(&d->di_credit_ms, &then, now, memory_order_relaxed,
                                                                memory_order_relaxed))
        return credit;
    uint64_t lost = min_size(now - then, UINT32_MAX) * DIRTY_LEAK, left;
    do
        left = credit > lost ? credit - lost : 0;
    while (!atomic_compare_exchange_weak_explicit(&d->di_credit, &credit, left, memory_order_relaxed,
                                                  memory_order_relaxed));
    return left;
}

void dirty_regret(struct dirty *d, uint64_t bytes)
{
    if (leak(d) < *d->di_cap)
        atomic_fetch_add_explicit(&d->di_credit, bytes, memory_order_relaxed);
}

uint64_t dirty_allowed(struct dirty *d) { return min_size(dirty_share(d) + leak(d), *d->di_cap); }
