/* SPDX-License-Identifier: MIT */
/* A lock of four bytes that sleeps in the kernel when it must wait.
 *
 * Layer: L0. States: 0 free, 1 held, 2 held and somebody may sleep.
 * Lock order, outermost first; a thread takes them in this order and the fork handler too:
 *   registry (list of caches)  →  maintenance (slots of CPUs)  →  shard  →  barn  →  home (slabs)  →
 *   large  →  region  →  meta
 * No lock is held across a callback of the user. Not recursive; a signal handler that allocates while its
 * thread is in a slow path may wait for ever, as with every malloc that is not documented otherwise. */
#ifndef SLUB_BASE_LOCK_H
#define SLUB_BASE_LOCK_H

#include <stdatomic.h>

#include "base/compiler.h"

struct lock {
    _Atomic uint32_t lk_state;
};

#define LOCK_INIT {0}

void lock_acquire_slow(struct lock *l);
void lock_wake(struct lock *l);

SLUB_FAST bool lock_try(struct lock *l)
{
    uint32_t free_state = 0;
    return atomic_compare_exchange_strong_explicit(&l->lk_state, &free_state, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

SLUB_FAST void lock_acquire(struct lock *l)
{
    if (unlikely(!lock_try(l)))
        lock_acquire_slow(l);
}

SLUB_FAST void lock_release(struct lock *l)
{
    if (unlikely(atomic_exchange_explicit(&l->lk_state, 0, memory_order_release) == 2))
        lock_wake(l);
}

/* Only for the child after fork: the holder may be a thread that no longer exists. */
SLUB_FAST void lock_reset(struct lock *l) { atomic_store_explicit(&l->lk_state, 0, memory_order_relaxed); }

#endif
