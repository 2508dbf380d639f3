/* SPDX-License-Identifier: MIT */
/* New slabs, purging, trimming and tearing down; see memory.h and pool.h. Layer: L4.
 * Locking: home locks are released around every system call. */
#include "slab/memory.h"

#include <string.h>

#include "os/os.h"
#include "region/meta.h"
#include "region/region.h"
#include "region/spare.h"
#include "service/dirty.h"
#include "slab/slab.h"

/* Spare granules are handed out again only when more than QUARANTINE wait or address space is out:
 * an address that is used after its cache was destroyed then still belongs to nobody. */
enum { QUARANTINE = 256 };

/* Slabs that are purged at a time. */
enum { PURGE_LEAST = 16, PURGE_MOST = 64 };

static uint64_t granule_take(struct pool *pool, bool *fell_back)
{
    uint64_t granule = spare_take(QUARANTINE);
    if (granule == REGION_NO_GRANULE)
        granule = region_take(1, fell_back);
    if (granule == REGION_NO_GRANULE)
        granule = spare_take(0);
    if (granule == REGION_NO_GRANULE && pool_relief != NULL && pool_relief(pool, RELIEF_SPACE))
        granule = spare_take(0);
    return granule;
}

void *pool_record(struct pool *asker, size_t bytes)
{
    void *p = meta_alloc(bytes);
    while (p == NULL && (spare_hollow() || (pool_relief != NULL &&
                                            pool_relief(asker, RELIEF_SPACE) && spare_hollow())))
        p = meta_alloc(bytes);
    return p;
}

struct slab *memory_new_slab(struct pool *pool, unsigned home, bool *fell_back)
{
    const struct geometry *g = &pool->po_geometry;
    struct slab *s = pool_record(pool, slab_record_bytes(g));
    if (s == NULL)
        return NULL;
    uint64_t granule = granule_take(pool, fell_back);
    if (granule == REGION_NO_GRANULE) {
        meta_free(s, slab_record_bytes(g));
        return NULL;
    }
    slab_init(s, g, granule, home);
    gmap_set(granule, gmap_pack(s->sl_state, pool->po_id));
    dirty_add_in_use(&dirty_slabs, (int64_t)memory_slab_bytes(g));
    return s;
}

static void sort_by_address(struct slab **s, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && s[j]->sl_granule < s[j - 1]->sl_granule; j--) {
            struct slab *t = s[j];
            s[j] = s[j - 1];
            s[j - 1] = t;
        }
}

/* Purge slabs, neighbours in one request: a short range costs the system one TLB invalidation a page, a long one
 * (Linux on x86: over 33 pages) a single flush. */
static void purge_sorted(struct slab **s, size_t n, bool *purged)
{
    for (size_t i = 0, k; i < n; i += k) {
        for (k = 1; i + k < n && s[i + k]->sl_granule == s[i]->sl_granule + k; k++)
            ;
        bool ok = os_purge(slab_base(s[i]), k << SLUB_GRANULE_SHIFT) == 0;
        for (size_t m = 0; m < k; m++)
            purged[i + m] = ok;
    }
}

/* Purge empty slabs of one home, longest empty first: `wanted` bytes, but not fewer than PURGE_LEAST slabs nor more
 * than PURGE_MOST. False when there was nothing to do. */
static bool purge_some(struct pool *pool, struct pool_home *ph, uint64_t wanted, uint64_t *bytes)
{
    const struct geometry *g = &pool->po_geometry;
    struct slab *batch[PURGE_MOST];
    bool purged[PURGE_MOST];
    size_t n = 0;
    uint64_t found = 0;
    lock_acquire(&ph->ph_lock);
    while (n < PURGE_MOST && (n < PURGE_LEAST || found < wanted) && ph->ph_n_slabs[SLAB_EMPTY] != 0) {
        struct slab *s = list_last(&ph->ph_lists[SLAB_EMPTY], struct slab, sl_link);
        list_remove(&s->sl_link);
        ph->ph_n_slabs[SLAB_EMPTY]--;
        found += memory_dirty_bytes(s, g);
        batch[n++] = s;
    }
    lock_release(&ph->ph_lock);
    if (n == 0)
        return false;
    sort_by_address(batch, n);
    purge_sorted(batch, n, purged);
    bool any = false;
    lock_acquire(&ph->ph_lock);
    for (size_t i = 0; i < n; i++) {
        unsigned list = purged[i] ? SLAB_CLEAN : SLAB_EMPTY;
        if (purged[i]) {
            uint64_t dirty = memory_dirty_bytes(batch[i], g);
            dirty_add(&dirty_slabs, -(int64_t)dirty);
            dirty_add_in_use(&dirty_slabs, -(int64_t)memory_slab_bytes(g));
            *bytes += dirty;
            slab_reset(batch[i], g);
            ph->ph_count.pc_free++;
            any = true;
        }
        list_push_front(&ph->ph_lists[list], &batch[i]->sl_link);
        batch[i]->sl_list = (uint8_t)list;
        ph->ph_n_slabs[list]++;
    }
    lock_release(&ph->ph_lock);
    return any;
}

/* What there is beyond seven eighths of what is allowed. */
static uint64_t excess(void)
{
    uint64_t have = dirty_bytes(&dirty_slabs), goal = dirty_allowed(&dirty_slabs) / 8 * 7;
    return have > goal ? have - goal : 0;
}

uint64_t memory_purge(struct pool *pool, bool all)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++) {
        struct pool_home *ph = atomic_load_explicit(&pool->po_home[i], memory_order_acquire);
        if (ph == NULL)
            continue;
        while ((all || dirty_is_near(&dirty_slabs)) && purge_some(pool, ph, all ? UINT64_MAX : excess(), &bytes))
            ;
    }
    return bytes;
}

/* The home of the slab that has been empty longest. */
static struct pool_home *oldest_home(struct pool *pool, uint32_t *emptied)
{
    struct pool_home *found = NULL;
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++) {
        struct pool_home *ph = atomic_load_explicit(&pool->po_home[i], memory_order_acquire);
        if (ph == NULL)
            continue;
        lock_acquire(&ph->ph_lock);
        if (ph->ph_n_slabs[SLAB_EMPTY] != 0) {
            uint32_t at = list_last(&ph->ph_lists[SLAB_EMPTY], struct slab, sl_link)->sl_emptied;
            if (found == NULL || (int32_t)(at - *emptied) < 0) {
                found = ph;
                *emptied = at;
            }
        }
        lock_release(&ph->ph_lock);
    }
    return found;
}

bool pool_oldest_empty(struct pool *pool, uint32_t *emptied) { return oldest_home(pool, emptied) != NULL; }

uint64_t pool_purge_oldest(struct pool *pool)
{
    uint64_t bytes = 0;
    uint32_t emptied;
    struct pool_home *ph = oldest_home(pool, &emptied);
    if (ph != NULL)
        purge_some(pool, ph, excess(), &bytes);
    return bytes;
}

/* Purge whole pages of a slab in use whose objects are all free and in the slab. Behind the last object that was ever
 * handed out there may be pages too: populated with the slab, or the rest of the last object's. */
static uint64_t purge_free_pages_locked(struct slab *s, const struct geometry *g, size_t page_bytes)
{
    uint64_t bytes = 0;
    size_t run_start = 0, run_end = 0; /* pages to purge together */
    for (size_t at = 0; at < SLUB_GRANULE_BYTES; at += page_bytes) {
        bool is_free = true;
        uint32_t last = (uint32_t)((at + page_bytes - 1) / g->stride_bytes);
        for (uint32_t i = (uint32_t)(at / g->stride_bytes); i <= last && is_free; i++)
            is_free = i >= s->sl_frontier || (s->sl_free[i / 64] >> (i % 64) & 1) != 0;
        if (!is_free)
            continue;
        if (at != run_end && run_end != run_start) {
            if (os_purge(slab_base(s) + run_start, run_end - run_start) == 0)
                bytes += run_end - run_start;
            run_start = at;
        } else if (run_end == run_start) {
            run_start = at;
        }
        run_end = at + page_bytes;
    }
    if (run_end != run_start && os_purge(slab_base(s) + run_start, run_end - run_start) == 0)
        bytes += run_end - run_start;
    return bytes;
}

uint64_t pool_trim(struct pool *pool, bool pages)
{
    uint64_t bytes = memory_purge(pool, true);
    size_t page_bytes = os_page_size();
    for (unsigned i = 0; pages && i < POOL_MAX_HOMES; i++) {
        struct pool_home *ph = atomic_load_explicit(&pool->po_home[i], memory_order_acquire);
        if (ph == NULL)
            continue;
        /* Under the lock: an object of the page must not be taken meanwhile. Trimming is a rare request. */
        lock_acquire(&ph->ph_lock);
        for (unsigned q = 0; q < 4; q++)
            for (struct list *l = ph->ph_lists[q].next; l != &ph->ph_lists[q]; l = l->next)
                bytes += purge_free_pages_locked(container_of(l, struct slab, sl_link), &pool->po_geometry,
                                                 page_bytes);
        lock_release(&ph->ph_lock);
    }
    return bytes;
}

/* A slab that cannot become a spare granule. */
static void take_back(struct pool *pool, struct pool_home *ph, struct slab *s, unsigned list)
{
    gmap_set(s->sl_granule, gmap_pack(s->sl_state, pool->po_id));
    lock_acquire(&ph->ph_lock);
    list_push_back(&ph->ph_lists[list], &s->sl_link);
    ph->ph_n_slabs[list]++;
    if (list == SLAB_EMPTY) {
        dirty_add(&dirty_slabs, (int64_t)memory_dirty_bytes(s, &pool->po_geometry));
        dirty_add_in_use(&dirty_slabs, (int64_t)memory_slab_bytes(&pool->po_geometry));
    }
    lock_release(&ph->ph_lock);
}

/* `dirty_too`: also slabs whose pages the system refused to take. */
static bool give_up_granules(struct pool *pool, struct pool_home *ph, bool dirty_too)
{
    bool any = false;
    for (;;) {
        struct slab *s = NULL;
        lock_acquire(&ph->ph_lock);
        unsigned list = ph->ph_n_slabs[SLAB_CLEAN] == 0 && dirty_too ? SLAB_EMPTY : SLAB_CLEAN;
        if (ph->ph_n_slabs[list] != 0) {
            s = list_last(&ph->ph_lists[list], struct slab, sl_link);
            list_remove(&s->sl_link);
            ph->ph_n_slabs[list]--;
            if (list == SLAB_EMPTY) {
                dirty_add(&dirty_slabs, -(int64_t)memory_dirty_bytes(s, &pool->po_geometry));
                dirty_add_in_use(&dirty_slabs, -(int64_t)memory_slab_bytes(&pool->po_geometry));
            }
        }
        lock_release(&ph->ph_lock);
        if (s == NULL)
            return any;
        gmap_set(s->sl_granule, gmap_unowned());
        if (!spare_put(s->sl_granule)) {
            take_back(pool, ph, s, list);
            return any;
        }
        any = true;
        meta_free(s, slab_record_bytes(&pool->po_geometry));
    }
}

static bool give_up_all(struct pool *pool, bool dirty_too)
{
    bool any = false;
    memory_purge(pool, true);
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++) {
        struct pool_home *ph = atomic_load_explicit(&pool->po_home[i], memory_order_acquire);
        if (ph != NULL)
            any |= give_up_granules(pool, ph, dirty_too);
    }
    return any;
}

bool pool_relieve_space(struct pool *pool) { return give_up_all(pool, false); }

void pool_tear_down(struct pool *pool)
{
    give_up_all(pool, true);
    for (unsigned i = 1; i < POOL_MAX_HOMES; i++) {
        struct pool_home *ph = atomic_load_explicit(&pool->po_home[i], memory_order_acquire);
        if (ph != NULL)
            meta_free(ph, sizeof *ph);
        atomic_store(&pool->po_home[i], NULL);
    }
    slub_recip[pool->po_id] = 0;
}
