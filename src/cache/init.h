/* SPDX-License-Identifier: MIT */
/* Opening for business, and fork.
 *
 * Layer: L7; called by the slow paths of api. The first slow path of the process initialises; until then the
 * fast path finds closed slots and an empty address map. */
#ifndef SLUB_CACHE_INIT_H
#define SLUB_CACHE_INIT_H

#include <stdatomic.h>

#include "base/compiler.h"

extern _Atomic bool init_is_done;

/* False when there is no address space at all. */
SLUB_SLOW bool init_now(void);

SLUB_FAST bool init_ready(void)
{
    return likely(atomic_load_explicit(&init_is_done, memory_order_acquire)) || init_now();
}

/* The gate in front of the slow paths of caches. Closed while a thread forks: the others wait here, holding nothing,
 * instead of contending with it for every lock. Closed for good in the child until the first one that comes has
 * taken over what other threads of the parent had at hand, and made random numbers differ from the parent's. */
extern _Atomic uint32_t init_gate;
SLUB_SLOW void init_pass_gate(void);

SLUB_FAST void init_gate_check(void)
{
    if (unlikely(atomic_load_explicit(&init_gate, memory_order_relaxed) != 0))
        init_pass_gate();
}

/* Give back everything that is free. Bytes. */
uint64_t init_trim(void);

#endif
