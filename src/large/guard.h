/* SPDX-License-Identifier: MIT */
/* Guards behind large blocks: pages that fault whoever touches them.
 *
 * Layer: L7, inside the directory but for guard_init(). The rest of a block's run, at least a page, is marked in the
 * page tables (MADV_GUARD_INSTALL, Linux 6.13), so a guard costs two system calls in the life of a block and no
 * mapping; a fork copies the marks. A mark survives purging, so a guard is removed before its run is freed, cut or
 * grown. There is one behind each block of options.large_guard_bytes and more, but for
 *   - fast mode, which leaves checks out;
 *   - limited address space: a run whose block ends at a granule's end is a granule longer;
 *   - thp=madvise: the mark would split the huge page in which the block ends;
 *   - blocks with a mapping of their own.
 * A kernel that refuses is not asked again.
 * Locking: none of its own; its calls are system calls, so not under a lock. Who makes them owns the run: a used block
 * that nobody knows yet or that is being resized, or a run in state HELD. */
#ifndef SLUB_LARGE_GUARD_H
#define SLUB_LARGE_GUARD_H

#include <stdatomic.h>

#include "large/runs.h"

/* Least bytes of a block that gets a guard; SIZE_MAX when none does. */
extern _Atomic size_t guard_least_bytes SLUB_HIDDEN;

/* Decide by the options and the limits of the process; forgets a refusal. */
void guard_init(void);

SLUB_FAST bool guard_is_wanted(size_t bytes)
{
#if SLUB_STATE
    return bytes >= atomic_load_explicit(&guard_least_bytes, memory_order_relaxed);
#else
    (void)bytes;
    return false;
#endif
}

/* Set lg_guarded, if the run has room behind the block and the system does it. */
void guard_install(struct large *lg);

/* Clear lg_guarded. False when the system refuses: then the run must not be used by anybody else. */
bool guard_remove(struct large *lg);

/* Guards there are. */
uint64_t guard_count(void);
bool guard_is_refused(void);

#endif
