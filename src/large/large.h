/* SPDX-License-Identifier: MIT */
/* Large blocks: more than 32 KiB, in runs of granules of their own.
 *
 * Layer: L7, beside cache; called by api. Freed runs are kept by length, joined with free
 * neighbours, and serve large blocks; where address space or memory is out, slabs too, and empty
 * slabs then serve large blocks. Pages of freed runs stay until options.dirty_bytes is reached,
 * then the oldest are returned; calloc knows which runs are without pages. Blocks grow in place
 * where the next granules are free, else by moving pages (mremap), else by copying. Where the
 * reservation has no room left, a block gets a mapping of its own. Locking: large_lock, released
 * around system calls that return or move pages. */
#ifndef SLUB_LARGE_LARGE_H
#define SLUB_LARGE_LARGE_H

#include "base/lock.h"
#include "region/gmap.h"

struct large;

/* Largest alignment. */
#define LARGE_MAX_ALIGN ((size_t)1 << 30)

/* `size` up to PTRDIFF_MAX, `align` a power of two. *zeroed (may be NULL) tells whether the block is all zero.
 * NULL when memory is out. */
void *large_alloc(size_t size, size_t align, bool *zeroed);

/* The block that begins at p, from its address map entry (or without one, for blocks with a mapping of their
 * own, and then not for a thread that is inside, see lock.h); NULL when p is not the start of a live large block. */
struct large *large_find(const void *p, gmap_entry e);

/* Free the block that begins at p. False when there is none: another thread freed it first. */
bool large_free(void *p);

/* Some blocks have mappings of their own, which only large_lock tells from strangers' addresses. */
bool large_has_direct(void);

size_t large_usable(const struct large *lg);

/* Resize to `size` (a large size too). The new address, or NULL when memory is out, and then nothing changed. */
void *large_realloc(struct large *lg, size_t size);

/* Usable bytes of a large block of this size. */
size_t large_good_size(size_t size);

/* Return pages of free runs: until dirty bytes are below the cap, or all. Bytes returned. */
uint64_t large_purge(bool all);

/* Make spare granules out of a free run, the shortest; false when there is none. */
bool large_relieve_space(void);

struct large_totals {
    uint64_t n_live, live_bytes, n_allocs, n_frees, n_free_runs, n_guards;
    bool guards_refused;
};
void large_totals(struct large_totals *t);

extern struct lock large_lock;

#endif
