/* SPDX-License-Identifier: MIT */
/* Ids, creation and removal of caches; see registry.h. Layer: L7. Locking: registry_lock. */
#include "cache/registry.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "cache/sizeclass.h"
#include "os/os.h"
#include "region/meta.h"
#include "service/options.h"

struct slub_cache *_Atomic registry_by_id[SLUB_MAX_CACHES];
struct lock registry_lock;

static unsigned n_cpus; /* [const after init] */

void registry_init_machine(void) { n_cpus = os_cpu_count(); }

static unsigned next_id; /* where the search for a free id begins [lock:registry_lock] */

int registry_geometry(struct geometry *g, size_t size, size_t align)
{
    struct geometry_rules rules = {
        .page_bytes = os_page_size(),
        .min_order = (unsigned)options.min_order,
        .max_order = (unsigned)options.max_order,
        .min_objs = (unsigned)options.min_objects,
        .n_cpus = n_cpus,
    };
    return geometry_compute(g, size, align, &rules);
}

static struct slub_cache *alloc_record(void)
{
    struct slub_cache *c = pool_record(NULL, sizeof *c);
    if (c != NULL)
        memset((void *)c, 0, sizeof *c);
    return c;
}

SLUB_SLOW static struct slub_cache *make_class(unsigned id)
{
    struct geometry g;
    uint32_t bytes = sizeclass_bytes(id - GMAP_FIRST_CACHE);
    if (registry_geometry(&g, bytes, bytes & -bytes) != 0)
        return NULL;
    struct slub_cache *fresh = alloc_record(); /* not under the lock: it may ask all caches for memory */
    lock_acquire(&registry_lock);
    struct slub_cache *c = registry_get(id);
    if (c == NULL && fresh != NULL) {
        c = fresh;
        fresh = NULL;
        cache_init(c, id, &g, bytes, g.align_bytes, 0);
        c->ca_is_class = true;
        atomic_store_explicit(&registry_by_id[id], c, memory_order_release);
    }
    lock_release(&registry_lock);
    if (fresh != NULL)
        meta_free(fresh, sizeof *fresh);
    return c;
}

struct slub_cache *registry_class(unsigned id)
{
    struct slub_cache *c = registry_get(id);
    if (likely(c != NULL))
        return c;
    return id >= GMAP_FIRST_CACHE && id < GMAP_FIRST_CACHE + sizeclass_count() ? make_class(id) : NULL;
}

int registry_create(struct slub_cache **out, const char *name, const struct geometry *g, size_t object_bytes,
                    size_t align_bytes, unsigned sheaf_capacity)
{
    struct slub_cache *c = alloc_record();
    if (c == NULL)
        return -ENOMEM;
    unsigned first = GMAP_FIRST_CACHE + SIZECLASS_MAX;
    unsigned n_ids = SLUB_MAX_CACHES - first;
    lock_acquire(&registry_lock);
    for (unsigned i = 0; i < n_ids; i++) {
        unsigned id = first + (next_id + i) % n_ids;
        if (registry_get(id) != NULL)
            continue;
        next_id = id - first + 1;
        cache_init(c, id, g, object_bytes, align_bytes, sheaf_capacity);
        strncpy(c->ca_name, name, sizeof c->ca_name - 1);
        atomic_store_explicit(&registry_by_id[id], c, memory_order_release);
        lock_release(&registry_lock);
        *out = c;
        return 0;
    }
    lock_release(&registry_lock);
    meta_free(c, sizeof *c);
    return -ENOSPC;
}

int registry_remove(struct slub_cache *c, uint64_t *n_live)
{
    /* What takes long, the bulk of the objects and the pages, goes before the lock; under it there is little left. */
    *n_live = 0;
    if (cache_drain(c, false) && pool_n_out(&c->ca_pool) == 0)
        pool_trim(&c->ca_pool, false);
    lock_acquire(&registry_lock);
    /* Only now is the count exact: no walk (trimming, relief, fork) has objects or slabs of the cache in its hands. */
    bool drained = cache_drain(c, false);
    if (drained)
        *n_live = pool_n_out(&c->ca_pool);
    if (!drained || *n_live != 0) {
        lock_release(&registry_lock);
        return -EBUSY;
    }
    cache_drain(c, true);
    atomic_store_explicit(&registry_by_id[c->ca_pool.po_id], NULL, memory_order_release);
    pool_tear_down(&c->ca_pool);
    for (unsigned i = 1; i < POOL_MAX_HOMES; i++)
        if (c->ca_barn[i] != NULL)
            meta_free(c->ca_barn[i], sizeof(struct barn));
    meta_free(c, sizeof *c);
    lock_release(&registry_lock);
    return 0;
}

void registry_each(void (*fn)(struct slub_cache *c, void *arg), void *arg)
{
    for (unsigned id = GMAP_FIRST_CACHE; id < SLUB_MAX_CACHES; id++) {
        if (registry_get(id) == NULL)
            continue;
        lock_acquire(&registry_lock);
        struct slub_cache *c = registry_get(id);
        if (c != NULL)
            fn(c, arg);
        lock_release(&registry_lock);
    }
}

void registry_each_locked(void (*fn)(struct slub_cache *c, void *arg), void *arg)
{
    for (unsigned id = GMAP_FIRST_CACHE; id < SLUB_MAX_CACHES; id++) {
        struct slub_cache *c = registry_get(id);
        if (c != NULL)
            fn(c, arg);
    }
}

void registry_name(const struct slub_cache *c, char name[CACHE_NAME_MAX])
{
    if (!c->ca_is_class) {
        memcpy(name, c->ca_name, CACHE_NAME_MAX);
        return;
    }
    struct text t = {name, 0, CACHE_NAME_MAX - 1};
    text_str(&t, "kmalloc-");
    if (c->ca_object_bytes >= 1024 && c->ca_object_bytes % 1024 == 0) {
        text_dec(&t, c->ca_object_bytes / 1024);
        text_str(&t, "k");
    } else {
        text_dec(&t, c->ca_object_bytes);
    }
    name[t.t_len] = 0;
}
