/* SPDX-License-Identifier: MIT */
/* Allocation by size, shared by slub.h's calls and the malloc family. Each sets errno on failure as malloc does;
 * `call` names the caller's entry point in reports of wrong addresses.
 *
 * Layer: L8, inside the directory. */
#ifndef SLUB_API_ALLOC_H
#define SLUB_API_ALLOC_H

#include "base/compiler.h"
#include "slub/slub.h"

/* The fast path, from C. */
SLUB_FAST void *alloc_fast(size_t size) { return slub_alloc(size, 0); }

void *alloc_by_size(size_t size);

/* All zero over the whole usable size; overflow has been excluded. */
void *alloc_zeroed(size_t size);

/* `align` is a power of two. ENOMEM when it is over LARGE_MAX_ALIGN. */
void *alloc_aligned(size_t align, size_t size);

/* p is not NULL, size not 0. */
void *alloc_resize(void *p, size_t size, const char *call);

size_t alloc_usable(const void *p, const char *call);

void free_by_address(void *p, const char *call);

/* Exits of the fast paths; see percpu/fastpath.h. */
void *slub_alloc_slow(size_t size, unsigned flags);
void *slub_cache_alloc_slow(struct slub_cache *c, unsigned flags);
void slub_cache_free_slow(struct slub_cache *c, void *p);
void slub_free_slow(void *p);
void slub_free_full(void *p, unsigned id, uint8_t *state);
SLUB_SLOW void slub_report_popped_live(void *p);

#endif
