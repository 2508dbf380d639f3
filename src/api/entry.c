/* SPDX-License-Identifier: MIT */
/* Entry points of libslub where there is no assembly for the CPU, or a sanitizer must see the accesses: every
 * call takes the slow path. Layer: L8. */
#include "api/alloc.h"

#if !SLUB_ASM
void *slub_alloc(size_t size, unsigned flags) { return slub_alloc_slow(size, flags); }
void slub_free(void *p) { slub_free_slow(p); }
void *slub_cache_alloc(struct slub_cache *c, unsigned flags) { return slub_cache_alloc_slow(c, flags); }
void slub_cache_free(struct slub_cache *c, void *p) { slub_cache_free_slow(c, p); }
#endif
