/* SPDX-License-Identifier: MIT */
/* The two calls under test, chosen when a worker is built: malloc and free, or slub_alloc and
 * slub_free.
 *
 * Both are plain calls to another object's symbol, so they go the way that a program's calls go.
 */
#ifndef SLUB_LAB_SLAB_API_H
#define SLUB_LAB_SLAB_API_H

#include "workloads/slab_worker.h"

#include <stddef.h>

#ifdef SLAB_API_SLUB
#include <slub/slub.h>
#define SLAB_API_SYMBOL             "slub_alloc"
#define slab_call_alloc(size_bytes) slub_alloc((size_bytes), 0)
static inline void slab_obj_free(void *p)
{
    slub_free(p);
}
#else
#include <stdlib.h>
#define SLAB_API_SYMBOL             "malloc"
#define slab_call_alloc(size_bytes) malloc(size_bytes)
static inline void slab_obj_free(void *p)
{
    free(p);
}
#endif

static inline void *slab_obj_alloc(struct slab_worker *w, size_t size_bytes)
{
    void *p = slab_call_alloc(size_bytes);
    if (__builtin_expect(p == NULL, 0))
        slab_worker_no_memory(w);
    return p;
}

/* One byte, as the kernel module does: the object's first line has to be there, no more. */
static inline void slab_obj_touch(void *p)
{
    *(volatile unsigned char *)p = 14;
}

#endif
