/* SPDX-License-Identifier: MIT */
/* A lock of four bytes that sleeps in the kernel when it must wait.
 *
 * Layer: L0. States: 0 free, 1 held, 2 held and somebody may sleep.
 * Lock order, outermost first; a thread takes them in this order and the fork handler too:
 *   init  →  registry (list of caches)  →  maintenance (slots of CPUs)  →  shard  →  barn  →  home (slabs)  →
 *   large  →  region  →  meta
 * No lock is held across a callback of the user. Not recursive: a thread that holds one, or waits for one, is
 * inside, and what a signal handler or a fork handler asks for on such a thread must be answered without a lock
 * (cache/stopgap.h). */
#ifndef SLUB_BASE_LOCK_H
#define SLUB_BASE_LOCK_H

#include <stdatomic.h>

#include "base/compiler.h"

struct lock {
    _Atomic uint32_t lk_state;
};

#define LOCK_INIT {0}

/* Locks that the calling thread holds or waits for. Handlers of signals leave it as they found it, so it need not be
 * atomic; it is counted before a lock is taken and after it is given back, so that they never see too few. */
extern _Thread_local volatile unsigned lock_n_held SLUB_HIDDEN;

SLUB_FAST bool lock_is_inside(void) { return unlikely(lock_n_held != 0); }

SLUB_FAST void lock_count(int change)
{
    atomic_signal_fence(memory_order_seq_cst);
    lock_n_held = lock_n_held + (unsigned)change;
    atomic_signal_fence(memory_order_seq_cst);
}

void lock_acquire_slow(struct lock *l);
void lock_wake(struct lock *l);

SLUB_FAST bool lock_take(struct lock *l)
{
    uint32_t free_state = 0;
    return atomic_compare_exchange_strong_explicit(&l->lk_state, &free_state, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

SLUB_FAST bool lock_try(struct lock *l)
{
    lock_count(1);
    if (likely(lock_take(l)))
        return true;
    lock_count(-1);
    return false;
}

SLUB_FAST void lock_acquire(struct lock *l)
{
    lock_count(1);
    if (unlikely(!lock_take(l)))
        lock_acquire_slow(l);
}

SLUB_FAST void lock_release(struct lock *l)
{
    if (unlikely(atomic_exchange_explicit(&l->lk_state, 0, memory_order_release) == 2))
        lock_wake(l);
    lock_count(-1);
}

#endif
