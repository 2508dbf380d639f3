/* SPDX-License-Identifier: MIT */
/* Seeds for everything that is random. Layer: L2. Locking: one leaf lock. */
#ifndef SLUB_SERVICE_ENTROPY_H
#define SLUB_SERVICE_ENTROPY_H

#include "base/compiler.h"

/* Fill a seed. The first call, and entropy_renew(), ask the system. */
void entropy_seed(uint8_t seed[32]);

/* Mix in fresh bytes of the system: in a forked child, so that it differs from its parent. */
void entropy_renew(void);

/* Fork. */
void entropy_lock_acquire(void);
void entropy_lock_release(void);

#endif
