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

/* In a forked child, before its first slow path: take over what other threads of the parent had at hand, and
 * make random numbers differ from the parent's. */
SLUB_SLOW void init_adopt(void);

/* Give back everything that is free. Bytes. */
uint64_t init_trim(void);

#endif
