/* SPDX-License-Identifier: MIT */
/* Waiting and waking for lock.h. Layer: L0. One of the two files outside os/ with a system call (futex):
 * a lock must not depend on the layer whose state it protects.
 * Source: the three-state futex mutex of U. Drepper, "Futexes are tricky" (2011), section 6. */
#include "base/lock.h"

#include "base/syscall.h"

#include <linux/futex.h>

/* How often to look again before sleeping. Slow paths hold a lock for 0.1 to 2 microseconds, so a short
 * spin usually wins; with more threads than CPUs the holder may not be running, so it stays short. */
enum { SPINS = 60 };

static void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

_Thread_local volatile unsigned lock_n_held;

SLUB_SLOW void lock_acquire_slow(struct lock *l)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&l->lk_state, memory_order_relaxed) == 0 && lock_take(l))
            return;
        cpu_relax();
    }
    while (atomic_exchange_explicit(&l->lk_state, 2, memory_order_acquire) != 0)
        raw_syscall(SYS_futex, (long)&l->lk_state, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}

SLUB_SLOW void lock_wake(struct lock *l)
{
    raw_syscall(SYS_futex, (long)&l->lk_state, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
