/* SPDX-License-Identifier: MIT */
/* The cache calls of slub.h: check arguments, call the cache layer, set errno. Layer: L8. Locking: none. */
#include <errno.h>
#include <string.h>

#include "api/alloc.h"
#include "base/check.h"
#include "cache/init.h"
#include "cache/object.h"
#include "cache/registry.h"
#include "os/os.h"

enum { CACHE_LINE = 64 };

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
    cache_trim(c);
    pool_totals(&c->ca_pool, &t);
    return t.n_slabs + t.n_empty != 0;
}

static void *mark_and_clear(const struct slub_cache *c, void *p, unsigned flags, const char *call)
{
    object_mark_live(p, call);
    return (flags & SLUB_ZERO) != 0 ? memset(p, 0, c->ca_pool.po_geometry.stride_bytes) : p;
}

void *slub_cache_alloc_slow(struct slub_cache *c, unsigned flags)
{
    void *p = NULL;
    if ((flags & ~SLUB_ZERO) != 0) {
        errno = EINVAL;
        return NULL;
    }
    if ((p = cache_take(c)) == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    return mark_and_clear(c, p, flags, "slub_cache_alloc");
}

void *slub_cache_zalloc(struct slub_cache *c)
{
    void *p = slub_cache_alloc(c, 0);
    return p != NULL ? memset(p, 0, c->ca_pool.po_geometry.stride_bytes) : NULL;
}

/* Check that p is a live object of c and mark it free. */
static void mark_free(struct slub_cache *c, void *p, const char *call)
{
    struct object ob;
    object_find(p, &ob);
    if (ob.ob_kind == OBJECT_LIVE && ob.ob_cache == c) {
#if SLUB_STATE
        *ob.ob_state = 0;
#endif
        return;
    }
    if (ob.ob_kind == OBJECT_LIVE || ob.ob_kind == OBJECT_LARGE || ob.ob_kind == OBJECT_FOREIGN)
        check_report_bug("wrong-cache", call, p, c->ca_name, c->ca_object_bytes);
    object_report(&ob, call, p);
}

void slub_cache_free_slow(struct slub_cache *c, void *p)
{
    if (p == NULL)
        return;
    mark_free(c, p, "slub_cache_free");
    cache_put(c, p);
}

size_t slub_cache_alloc_bulk(struct slub_cache *c, unsigned flags, size_t n, void **p)
{
    if ((flags & ~SLUB_ZERO) != 0) {
        errno = EINVAL;
        return 0;
    }
    size_t got = cache_take_bulk(c, p, n);
    if (got < n) {
        cache_put_bulk(c, p, got);
        errno = ENOMEM;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        mark_and_clear(c, p[i], flags, "slub_cache_alloc_bulk");
    return n;
}

void slub_cache_free_bulk(struct slub_cache *c, size_t n, void *const *p)
{
    for (size_t i = 0; i < n; i++)
        mark_free(c, p[i], "slub_cache_free_bulk");
    cache_put_bulk(c, p, n);
}

size_t slub_cache_size(const struct slub_cache *c) { return c->ca_object_bytes; }
