/* SPDX-License-Identifier: MIT */
/* The cache calls of slub.h: check arguments, call the cache layer, set errno. Layer: L8. Locking: none. */
#include <errno.h>
#include <string.h>

#include "api/alloc.h"
#include "base/check.h"
#include "cache/init.h"
#include "cache/object.h"
#include "cache/registry.h"
#include "cache/stopgap.h"
#include "os/os.h"

enum { CACHE_LINE = 64, BATCH = 64 };

static bool is_name(const char *name)
{
    size_t n = name != NULL ? strlen(name) : 0;
    for (size_t i = 0; i < n; i++)
        if (name[i] <= ' ' || name[i] > '~')
            return false;
    return n != 0 && n < CACHE_NAME_MAX;
}

/* Alignment as the kernel computes it: the larger of what is asked for and, with SLUB_HWCACHE_ALIGN, the cache
 * line, halved while two objects fit into the half. */
static size_t align_for(size_t size, size_t asked, unsigned flags)
{
    size_t align = max_size(asked, sizeof(void *));
    if ((flags & SLUB_HWCACHE_ALIGN) != 0) {
        size_t line = CACHE_LINE;
        while (size <= line / 2)
            line /= 2;
        align = max_size(align, line);
    }
    return align;
}

static int create(struct slub_cache **out, const char *name, size_t size, const struct slub_cache_args *args,
                  unsigned flags)
{
    struct slub_cache_args a = {0};
    struct geometry g;
    if ((flags & ~(SLUB_HWCACHE_ALIGN | SLUB_PANIC | SLUB_NO_MERGE)) != 0 || !is_name(name) || size == 0)
        return -EINVAL;
    if (args != NULL) {
        if (args->size < sizeof args->size || args->size > sizeof a)
            return -EINVAL;
        memcpy(&a, args, args->size);
    }
    if (a.align != 0 && !is_pow2(a.align))
        return -EINVAL;
    if (lock_is_inside())
        return -EBUSY;
    if (!init_ready())
        return -ENOMEM;
    size_t align = align_for(size, a.align, flags);
    int error = registry_geometry(&g, size, align);
    return error != 0 ? error : registry_create(out, name, &g, size, align, a.sheaf_capacity);
}

struct slub_cache *slub_cache_create(const char *name, size_t size, const struct slub_cache_args *args,
                                     unsigned flags)
{
    struct slub_cache *c = NULL;
    int error = create(&c, name, size, args, flags);
    if (error == 0)
        return c;
    if ((flags & SLUB_PANIC) != 0)
        check_report_bug("create-failed", "slub_cache_create", NULL, is_name(name) ? name : "?", size);
    errno = -error;
    return NULL;
}

int slub_cache_destroy(struct slub_cache *c)
{
    if (c == NULL)
        return 0;
    if (lock_is_inside() || stopgap_serves(c))
        return -EBUSY;
    init_late_check();
    uint64_t n_live;
    int error = registry_remove(c, &n_live);
    if (n_live != 0) {
        char text[CACHE_NAME_MAX + 64];
        struct text t = {text, 0, sizeof text};
        text_str(&t, c->ca_name);
        text_str(&t, " live objects=");
        text_dec(&t, n_live);
        check_report_line("cache not destroyed", text, t.t_len);
    }
    return error;
}

int slub_cache_shrink(struct slub_cache *c)
{
    struct pool_totals t;
    if (lock_is_inside())
        return 1;
    init_late_check();
    cache_trim(c);
    pool_totals(&c->ca_pool, &t);
    return t.n_slabs + t.n_empty != 0;
}

static void *clear_if(const struct slub_cache *c, void *p, unsigned flags)
{
    return (flags & SLUB_ZERO) != 0 ? memset(p, 0, c->ca_pool.po_geometry.stride_bytes) : p;
}

void *slub_cache_alloc_slow(struct slub_cache *c, unsigned flags)
{
    void *p = NULL;
    if ((flags & ~SLUB_ZERO) != 0) {
        errno = EINVAL;
        return NULL;
    }
    if (lock_is_inside())
        p = stopgap_alloc(c->ca_pool.po_geometry.stride_bytes, c->ca_align_bytes, c);
    else if ((p = cache_take(c)) != NULL)
        return clear_if(c, p, flags);
    if (p == NULL)
        errno = ENOMEM;
    return p;
}

void *slub_cache_zalloc(struct slub_cache *c)
{
    void *p = slub_cache_alloc(c, 0);
    return p != NULL ? memset(p, 0, c->ca_pool.po_geometry.stride_bytes) : NULL;
}

/* Check that p is a live object of c and mark it free. False for a stopgap, which is freed. */
static bool mark_free(struct slub_cache *c, void *p, struct entry *e, const char *call)
{
    struct object ob;
    object_find(p, &ob);
    bool is_mine = ob.ob_cache == c;
    *e = entry_make(p, ob.ob_state);
    if (is_mine && ob.ob_kind == OBJECT_LIVE && object_mark_free(&ob))
        return true;
    if (is_mine && ob.ob_kind == OBJECT_STOPGAP && stopgap_free(p))
        return false;
    if (object_is_block(&ob) || ob.ob_kind == OBJECT_FOREIGN)
        check_report_bug("wrong-cache", call, p, c->ca_name, c->ca_object_bytes);
    object_report(&ob, call, p);
    return false;
}

void slub_cache_free_slow(struct slub_cache *c, void *p)
{
    struct entry e;
    if (p == NULL || !mark_free(c, p, &e, "slub_cache_free"))
        return;
    if (lock_is_inside())
        init_put_off(p);
    else
        cache_put(c, e);
}

/* Of a thread that is inside already, one by one. */
static size_t take_inside(struct slub_cache *c, size_t n, void **p)
{
    size_t got = 0;
    while (got < n && (p[got] = slub_cache_alloc(c, 0)) != NULL)
        got++;
    return got;
}

size_t slub_cache_alloc_bulk(struct slub_cache *c, unsigned flags, size_t n, void **p)
{
    if ((flags & ~SLUB_ZERO) != 0) {
        errno = EINVAL;
        return 0;
    }
    bool is_inside = lock_is_inside();
    size_t got = is_inside ? take_inside(c, n, p) : cache_take_bulk(c, p, n);
    if (got < n) {
        slub_cache_free_bulk(c, got, p);
        errno = ENOMEM;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        clear_if(c, p[i], flags);
    return n;
}

void slub_cache_free_bulk(struct slub_cache *c, size_t n, void *const *p)
{
    struct entry e[BATCH];
    size_t k = 0;
    if (lock_is_inside()) {
        for (size_t i = 0; i < n; i++)
            slub_cache_free(c, p[i]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        k += mark_free(c, p[i], &e[k], "slub_cache_free_bulk"); /* a stopgap is gone, and no part of a batch */
        if (k == BATCH || i + 1 == n) {
            cache_put_bulk(c, e, k);
            k = 0;
        }
    }
}

size_t slub_cache_size(const struct slub_cache *c) { return c->ca_object_bytes; }
