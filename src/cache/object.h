/* SPDX-License-Identifier: MIT */
/* What an address is, and the state byte in C.
 *
 * Layer: L7. The assembly of the fast path does the same for the common case; here is the whole of it, for slow
 * paths, realloc and reports. */
#ifndef SLUB_CACHE_OBJECT_H
#define SLUB_CACHE_OBJECT_H

#include "cache/cache.h"
#include "large/large.h"

enum object_kind {
    OBJECT_FOREIGN,  /* not in our address space: somebody else's, or nobody's */
    OBJECT_LIVE,     /* start of an object in use (with SLUB_STATE=0: of any object) */
    OBJECT_FREE,     /* start of an object that is free */
    OBJECT_NEVER,    /* start of an object that was never handed out, or a place where there is none */
    OBJECT_INTERIOR, /* inside an object, not its start */
    OBJECT_LARGE,    /* start of a large block in use */
    OBJECT_STOPGAP   /* start of a block that was made for a handler (stopgap.h) */
};

struct object {
    enum object_kind ob_kind;
    struct slub_cache *ob_cache; /* of a slab, or that a stopgap stands in for; else NULL */
    struct large *ob_large;
    uint8_t *ob_state;           /* its state byte, for starts in slabs */
    size_t ob_usable_bytes;      /* of a stopgap */
};

void object_find(const void *p, struct object *ob);

/* Something that realloc and malloc_usable_size() take. */
SLUB_FAST bool object_is_block(const struct object *ob)
{
    return ob->ob_kind == OBJECT_LIVE || ob->ob_kind == OBJECT_LARGE || ob->ob_kind == OBJECT_STOPGAP;
}

/* Usable bytes of such a block. */
size_t object_usable(const struct object *ob);

/* Mark an object live that leaves for the program. One that is live already was freed twice at once by two threads,
 * and is reported. */
void *object_hand_out(struct entry e);
SLUB_SLOW void object_report_popped(void *p);

/* Mark a live object free. False, and then it is OBJECT_FREE, when another thread did. */
bool object_mark_free(struct object *ob);

/* Report what is wrong with p in `call`; returns only for OBJECT_FOREIGN, which is counted and ignored. */
void object_report(const struct object *ob, const char *call, const void *p);

uint64_t object_foreign_frees(void);

#endif
