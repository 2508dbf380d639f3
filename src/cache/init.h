/* SPDX-License-Identifier: MIT */
/* Opening for business, and fork.
 *
 * Layer: L7; called by the slow paths of api. The first slow path of the process initialises; until then the
 * fast path finds closed slots and an empty address map. */
#ifndef SLUB_CACHE_INIT_H
#define SLUB_CACHE_INIT_H

#include <stdatomic.h>

#include "base/compiler.h"
#include "base/lock.h"

extern _Atomic bool init_is_done;

/* False when there is no address space at all, or when the caller interrupted the initialisation. */
SLUB_SLOW bool init_now(void);

SLUB_FAST bool init_ready(void)
{
    return likely(atomic_load_explicit(&init_is_done, memory_order_acquire)) || init_now();
}

/* What makes slow paths stop on their way in, bits of init_gate. */
enum { GATE_FORK = 1, GATE_ADOPT = 2, GATE_LATE = 4 };

/* The gate in front of the slow paths of caches. Closed while a thread forks: the others wait here, holding nothing,
 * instead of contending with it for every lock. Closed for good in the child until the first one that comes has
 * taken over what other threads of the parent had at hand, and made random numbers differ from the parent's. Also the
 * first one takes back what handlers freed on threads that were inside (stopgap.h). */
extern _Atomic uint32_t init_gate;
SLUB_SLOW void init_pass_gate(void);

SLUB_FAST void init_gate_check(void)
{
    if (unlikely(atomic_load_explicit(&init_gate, memory_order_relaxed) != 0))
        init_pass_gate();
}

/* The same for the slow paths that neither wait for forks nor adopt: take back what was put off. */
SLUB_SLOW void init_take_back(void);

SLUB_FAST void init_late_check(void)
{
    if (unlikely((atomic_load_explicit(&init_gate, memory_order_relaxed) & GATE_LATE) != 0))
        init_take_back();
}

/* Free p later: the caller is inside. A small object has been marked free. */
SLUB_SLOW void init_put_off(void *p);

/* Give back everything that is free. Bytes; none when the caller is inside. */
uint64_t init_trim(void);

#endif
