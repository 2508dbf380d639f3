/* SPDX-License-Identifier: MIT */
/* The size-class calls of slub.h, and the slow exits of their fast paths. Layer: L8. Locking: none. */
#include "api/alloc.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "cache/init.h"
#include "cache/object.h"
#include "cache/registry.h"
#include "cache/sizeclass.h"
#include "cache/stopgap.h"
#include "slub/slub.h"

/* Blocks of a class whose size does not exceed this much of the present one move when they shrink. */
enum { SHRINK_DIVISOR = 2 };

static void *fail(int error)
{
    errno = error;
    return NULL;
}

static void *alloc_class(unsigned id)
{
    struct slub_cache *c = registry_class(id);
    void *p = c != NULL ? cache_take(c) : NULL;
    return likely(p != NULL) ? p : fail(ENOMEM);
}

/* For a thread that is inside already. All zero. */
SLUB_SLOW static void *alloc_inside(size_t size, size_t align)
{
    void *p = size <= PTRDIFF_MAX && align <= LARGE_MAX_ALIGN ? stopgap_alloc(size, align, NULL) : NULL;
    return p != NULL ? p : fail(ENOMEM);
}

static void *alloc_large(size_t size, size_t align, bool *zeroed)
{
    init_late_check();
    void *p = large_alloc(size, align, zeroed);
    return p != NULL ? p : fail(ENOMEM);
}

SLUB_SLOW void *alloc_by_size(size_t size)
{
    if (lock_is_inside())
        return alloc_inside(size, 1);
    if (unlikely(!init_ready() || size > PTRDIFF_MAX))
        return fail(ENOMEM);
    return size <= SIZE_CLASS_MAX ? alloc_class(sizeclass_id(size)) : alloc_large(size, 1, NULL);
}

void *alloc_zeroed(size_t size)
{
    if (lock_is_inside())
        return alloc_inside(size, 1);
    if (unlikely(!init_ready() || size > PTRDIFF_MAX))
        return fail(ENOMEM);
    if (size <= SIZE_CLASS_MAX) {
        void *p = alloc_fast(size);
        return p != NULL ? memset(p, 0, sizeclass_bytes(sizeclass_id(size) - GMAP_FIRST_CACHE)) : NULL;
    }
    bool zeroed;
    void *p = alloc_large(size, 1, &zeroed);
    return p == NULL || zeroed ? p : memset(p, 0, large_good_size(size)); /* all of the usable size */
}

void *alloc_aligned(size_t align, size_t size)
{
    if (lock_is_inside())
        return alloc_inside(size, align);
    if (unlikely(!init_ready() || size > PTRDIFF_MAX || align > LARGE_MAX_ALIGN))
        return fail(ENOMEM);
    unsigned id = sizeclass_id_aligned(size, align);
    return id != 0 ? alloc_class(id) : alloc_large(size, align, NULL);
}

/* Old contents in a new block. */
static void *move(void *p, const struct object *ob, size_t size, const char *call)
{
    void *to = alloc_fast(size);
    if (to == NULL)
        return NULL;
    memcpy(to, p, min_size(object_usable(ob), size));
    free_by_address(p, call);
    return to;
}

void *alloc_resize(void *p, size_t size, const char *call)
{
    struct object ob;
    bool is_inside = lock_is_inside();
    if (unlikely(!is_inside && !init_ready()))
        return fail(ENOMEM);
    object_find(p, &ob);
    if (unlikely(!object_is_block(&ob))) {
        object_report(&ob, call, p);
        return fail(ENOMEM); /* a stranger's block: we know neither its size nor how to free it */
    }
    if (unlikely(size > PTRDIFF_MAX))
        return fail(ENOMEM);
    size_t usable = object_usable(&ob);
    if (ob.ob_kind == OBJECT_LARGE && size > SIZE_CLASS_MAX && !is_inside) {
        void *to = large_realloc(ob.ob_large, size);
        return to != NULL ? to : fail(ENOMEM);
    }
    if (size <= usable && (is_inside || (size >= usable / SHRINK_DIVISOR && ob.ob_kind == OBJECT_LIVE)))
        return p;
    int saved_errno = errno;
    void *to = move(p, &ob, size, call);
    if (to != NULL || size > usable)
        return to;
    errno = saved_errno; /* shrinking must not fail for lack of memory: the old block is large enough */
    return p;
}

SLUB_SLOW void free_by_address(void *p, const char *call)
{
    struct object ob;
    bool is_inside = lock_is_inside();
    if (p == NULL || (!is_inside && !init_ready()))
        return;
    object_find(p, &ob);
    switch (ob.ob_kind) {
    case OBJECT_LIVE:
        if (!object_mark_free(&ob))
            break;
        if (is_inside)
            init_put_off(p);
        else
            cache_put(ob.ob_cache, entry_make(p, ob.ob_state));
        return;
    case OBJECT_LARGE:
        if (!is_inside && !large_free(p))
            break;
        if (is_inside)
            init_put_off(p);
        return;
    case OBJECT_STOPGAP:
        if (!stopgap_free(p))
            break;
        return;
    case OBJECT_FOREIGN:
        if (!is_inside || !large_has_direct())
            break;
        init_put_off(p); /* a block with a mapping of its own, perhaps */
        return;
    default:
        break;
    }
    object_report(&ob, call, p);
}

size_t alloc_usable(const void *p, const char *call)
{
    struct object ob;
    if (p == NULL || (!lock_is_inside() && !init_ready()))
        return 0;
    object_find(p, &ob);
    if (!object_is_block(&ob)) {
        object_report(&ob, call, p);
        return 0;
    }
    return object_usable(&ob);
}

/* ---- exits of the fast paths -------------------------------------------------------------------- */

void *slub_alloc_slow(size_t size, unsigned flags)
{
    if (flags == 0)
        return alloc_by_size(size);
    return flags == SLUB_ZERO ? alloc_zeroed(size) : fail(EINVAL);
}

void slub_free_slow(void *p) { free_by_address(p, "free"); }

/* The object has been marked free already, in its state byte. */
void slub_free_full(void *p, unsigned id, uint8_t *state)
{
    if (unlikely(id < GMAP_FIRST_CACHE)) /* fast mode sends everything here that is no slab */
        free_by_address(p, "free");
    else if (lock_is_inside())
        init_put_off(p);
    else
        cache_put(registry_get(id), entry_make(p, state));
}

void slub_report_popped_live(void *p) { object_report_popped(p); }

/* ---- slub.h ------------------------------------------------------------------------------------- */

void *slub_zalloc(size_t size) { return alloc_zeroed(size); }

void *slub_calloc(size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? fail(ENOMEM) : alloc_zeroed(bytes);
}

void *slub_aligned_alloc(size_t align, size_t size)
{
    return is_pow2(align) && align <= LARGE_MAX_ALIGN ? alloc_aligned(align, size) : fail(EINVAL);
}

void *slub_realloc(void *p, size_t size)
{
    if (p == NULL)
        return slub_alloc(size, 0);
    if (size == 0) {
        slub_free(p);
        return NULL;
    }
    return alloc_resize(p, size, "slub_realloc");
}

void slub_free_sized(void *p, size_t size)
{
    (void)size;
    slub_free(p);
}

void slub_free_sensitive(void *p)
{
    if (p == NULL)
        return;
    memset(p, 0, alloc_usable(p, "slub_free_sensitive"));
    __asm__ volatile("" : : "r"(p) : "memory"); /* the stores are the purpose */
    slub_free(p);
}

void slub_free_bulk(size_t n, void *const *p)
{
    for (size_t i = 0; i < n; i++)
        slub_free(p[i]);
}

size_t slub_usable_size(const void *p) { return alloc_usable(p, "slub_usable_size"); }

size_t slub_good_size(size_t size)
{
    if (size > PTRDIFF_MAX || !init_ready())
        return size;
    return size <= SIZE_CLASS_MAX ? sizeclass_bytes(sizeclass_id(size) - GMAP_FIRST_CACHE) : large_good_size(size);
}

const char *slub_version(void) { return SLUB_VERSION; }
