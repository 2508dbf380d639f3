/* SPDX-License-Identifier: MIT */
/* Installing and removing guards; see guard.h. Layer: L7. Locking: none. */
#include "large/guard.h"

#include <errno.h>

#include "os/os.h"
#include "service/options.h"

_Atomic size_t guard_least_bytes = SIZE_MAX;
static _Atomic uint64_t n_guards;
static _Atomic bool is_refused;

void guard_init(void)
{
    bool none = options.large_guard_bytes == 0 || options.thp != THP_NEVER || os_address_limit() != UINT64_MAX;
    atomic_store_explicit(&is_refused, false, memory_order_relaxed);
    atomic_store_explicit(&guard_least_bytes, none ? SIZE_MAX : options.large_guard_bytes, memory_order_relaxed);
}

static void stop(void)
{
    atomic_store_explicit(&is_refused, true, memory_order_relaxed);
    atomic_store_explicit(&guard_least_bytes, SIZE_MAX, memory_order_relaxed);
}

static char *end_of(const struct large *lg) { return (char *)gmap_address(lg->lg_first) + lg->lg_bytes; }

/* The rest of the run; more than a granule only where there was no record to cut the run with. */
static size_t room(const struct large *lg) { return min_size(run_bytes(lg) - lg->lg_bytes, SLUB_GRANULE_BYTES); }

/* An older kernel, memory that the program locked, or a sandbox. */
static bool is_refusal(int r) { return r == -EINVAL || r == -EPERM || r == -ENOSYS; }

void guard_install(struct large *lg)
{
    size_t bytes = room(lg);
    if (bytes == 0)
        return;
    int r = os_guard(end_of(lg), bytes);
    if (is_refusal(r))
        stop();
    if (r != 0) { /* part of it may be done, but not by a kernel that refuses the way back too */
        r = os_unguard(end_of(lg), bytes);
        if (r == 0 || is_refusal(r))
            return;
    }
    lg->lg_guarded = true;
    atomic_fetch_add_explicit(&n_guards, 1, memory_order_relaxed);
}

bool guard_remove(struct large *lg)
{
    if (os_unguard(end_of(lg), room(lg)) != 0) {
        stop();
        return false;
    }
    lg->lg_guarded = false;
    atomic_fetch_sub_explicit(&n_guards, 1, memory_order_relaxed);
    return true;
}

uint64_t guard_count(void) { return atomic_load_explicit(&n_guards, memory_order_relaxed); }
bool guard_is_refused(void) { return atomic_load_explicit(&is_refused, memory_order_relaxed); }
