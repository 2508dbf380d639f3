/* SPDX-License-Identifier: MIT */
/* Classifying addresses and reporting bad ones; see object.h. Layer: L7. Locking: none; what it reads of a slab
 * is constant, or only words a report. */
#include "cache/object.h"

#include "base/check.h"
#include "cache/registry.h"
#include "cache/stopgap.h"
#include "large/runs.h"
#include "slab/slab.h"

static _Atomic uint64_t n_foreign_frees;

static void find_in_slab(const void *p, gmap_entry e, struct object *ob)
{
    struct slub_cache *c = registry_get(gmap_id(e));
    ob->ob_cache = c;
    if (c == NULL) { /* its cache is being destroyed */
        ob->ob_kind = OBJECT_NEVER;
        return;
    }
    const struct geometry *g = &c->ca_pool.po_geometry;
    uint32_t offset = slab_offset(p);
    uint32_t index = geometry_index(g, offset);
    if (offset / g->stride_bytes >= g->n_objs) {
        ob->ob_kind = OBJECT_NEVER; /* behind the last object */
        return;
    }
    if (index * g->stride_bytes != offset) {
        ob->ob_kind = OBJECT_INTERIOR;
        return;
    }
    struct slab *s = slab_of_entry(e);
    ob->ob_state = &s->sl_state[index];
#if SLUB_STATE
    if (*ob->ob_state == 1)
        ob->ob_kind = OBJECT_LIVE;
    else
        ob->ob_kind = index >= s->sl_frontier ? OBJECT_NEVER : OBJECT_FREE;
#else
    ob->ob_kind = OBJECT_LIVE;
#endif
}

void object_find(const void *p, struct object *ob)
{
    *ob = (struct object){OBJECT_FOREIGN, NULL, NULL, NULL, 0};
    gmap_entry e = gmap_find(p);
    unsigned id = gmap_id(e);
    if (id >= GMAP_FIRST_CACHE) {
        find_in_slab(p, e, ob);
        return;
    }
    ob->ob_large = large_find(p, e);
    if (ob->ob_large != NULL) {
        ob->ob_kind = OBJECT_LARGE;
        return;
    }
    if (id == GMAP_LARGE || id == GMAP_LARGE_TAIL) {
        const struct large *lg = gmap_owner(e);
        ob->ob_kind = lg->lg_state == RUN_USED ? OBJECT_INTERIOR : OBJECT_FREE;
    } else if (e != GMAP_NONE) { /* a granule that nobody owns now */
        ob->ob_kind = slab_offset(p) == 0 ? OBJECT_FREE : OBJECT_NEVER;
    } else {
        const struct slub_cache *c = NULL;
        ob->ob_usable_bytes = stopgap_find(p, &c);
        if (ob->ob_usable_bytes != 0) {
            ob->ob_kind = OBJECT_STOPGAP;
            ob->ob_cache = c != NULL ? registry_get(c->ca_pool.po_id) : NULL;
        }
    }
}

size_t object_usable(const struct object *ob)
{
    if (ob->ob_kind == OBJECT_LARGE)
        return large_usable(ob->ob_large);
    if (ob->ob_kind == OBJECT_STOPGAP)
        return ob->ob_usable_bytes;
    return ob->ob_cache->ca_pool.po_geometry.stride_bytes;
}

void object_report_popped(void *p)
{
    struct object ob;
    object_find(p, &ob);
    object_report(&ob, "malloc", p);
}

void *object_hand_out(struct entry e)
{
#if SLUB_STATE
    if (unlikely(*e.en_state != 0))
        object_report_popped(e.en_obj);
    *e.en_state = 1;
#endif
    return e.en_obj;
}

bool object_mark_free(struct object *ob)
{
#if SLUB_STATE
    if (__atomic_exchange_n(ob->ob_state, 0, __ATOMIC_RELAXED) != 1) {
        ob->ob_kind = OBJECT_FREE;
        return false;
    }
#else
    (void)ob;
#endif
    return true;
}

void object_report(const struct object *ob, const char *call, const void *p)
{
    static const char *const kinds[] = {
        [OBJECT_FOREIGN] = "foreign", [OBJECT_LIVE] = "double-free",      [OBJECT_FREE] = "double-free",
        [OBJECT_NEVER] = "invalid-free", [OBJECT_INTERIOR] = "interior-free", [OBJECT_LARGE] = "wrong-cache",
        [OBJECT_STOPGAP] = "wrong-cache",
    };
    char name[CACHE_NAME_MAX] = "large";
    size_t size = 0;
    if (ob->ob_kind == OBJECT_FOREIGN) {
        atomic_fetch_add_explicit(&n_foreign_frees, 1, memory_order_relaxed);
        return;
    }
    if (ob->ob_cache != NULL) {
        registry_name(ob->ob_cache, name);
        size = ob->ob_cache->ca_object_bytes;
    }
    check_report_bug(kinds[ob->ob_kind], call, p, name, size);
}

uint64_t object_foreign_frees(void) { return atomic_load_explicit(&n_foreign_frees, memory_order_relaxed); }
