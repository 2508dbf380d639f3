/* SPDX-License-Identifier: MIT */
/* The lists of a pool, taking and giving in bulk; see pool.h. Layer: L4. Locking: home locks. */
#include "slab/pool.h"

#include <string.h>

#include "base/check.h"
#include "os/os.h"
#include "region/meta.h"
#include "service/dirty.h"
#include "service/entropy.h"
#include "service/options.h"
#include "slab/memory.h"
#include "slab/slab.h"

uint32_t slub_recip[SLUB_MAX_CACHES] SLUB_ALIGNED(64);
bool (*pool_relief)(struct pool *asker, enum pool_relief what);
unsigned pool_n_nodes = 1;

static _Atomic uint32_t n_emptied; /* slabs that became EMPTY, of all pools */

static void home_init(struct pool_home *ph, bool strong)
{
    uint8_t seed[32];
    for (int i = 0; i < SLAB_N_LISTS; i++)
        list_init(&ph->ph_lists[i]);
    entropy_seed(seed);
    random_seed(&ph->ph_random, seed);
    if (strong)
        ph->ph_random.rs_source = os_random;
}

void pool_init(struct pool *pool, uint32_t id, const struct geometry *g)
{
    pool->po_id = id;
    pool->po_geometry = *g;
    pool->po_quarter = ((4ull << 32) + g->n_objs - 1) / g->n_objs;
    pool->po_random = options.freelist_random != RANDOM_OFF;
    pool->po_random_strong = options.freelist_random == RANDOM_STRONG;
    home_init(&pool->po_home0, pool->po_random_strong);
    atomic_store_explicit(&pool->po_home[0], &pool->po_home0, memory_order_release);
    slub_recip[id] = g->recip;
}

/* The lists of a home, made at first use; home 0 when there is no memory for them. */
static struct pool_home *home_get(struct pool *pool, unsigned home)
{
    struct pool_home *ph = atomic_load_explicit(&pool->po_home[home], memory_order_acquire);
    if (likely(ph != NULL))
        return ph;
    struct pool_home *fresh = meta_alloc(sizeof *fresh);
    if (fresh == NULL)
        return &pool->po_home0;
    memset(fresh, 0, sizeof *fresh);
    home_init(fresh, pool->po_random_strong);
    /* Under the first lock that fork takes of a pool: what it lets go is then what it took. */
    lock_acquire(&pool->po_home0.ph_lock);
    ph = atomic_load_explicit(&pool->po_home[home], memory_order_relaxed);
    if (ph == NULL)
        atomic_store_explicit(&pool->po_home[home], fresh, memory_order_release);
    lock_release(&pool->po_home0.ph_lock);
    if (ph == NULL)
        return fresh;
    meta_free(fresh, sizeof *fresh);
    return ph;
}

static void list_put_locked(struct pool_home *ph, struct slab *s, unsigned list)
{
    if (list == SLAB_FULL) /* not linked: nobody looks for it */
        list_init(&s->sl_link);
    else if (list == SLAB_CLEAN)
        list_push_back(&ph->ph_lists[list], &s->sl_link);
    else
        list_push_front(&ph->ph_lists[list], &s->sl_link);
    s->sl_list = (uint8_t)list;
    ph->ph_n_slabs[list]++;
}

static void list_take_locked(struct pool_home *ph, struct slab *s)
{
    list_remove(&s->sl_link);
    ph->ph_n_slabs[s->sl_list]--;
}

/* The list on which a slab in use belongs. */
static unsigned list_for(const struct pool *pool, const struct slab *s)
{
    uint32_t n_free = slab_n_free(s, &pool->po_geometry);
    if (n_free == 0)
        return SLAB_FULL;
    if (n_free == pool->po_geometry.n_objs)
        return SLAB_EMPTY;
    return SLAB_PARTIAL + (unsigned)((uint64_t)n_free * pool->po_quarter >> 32);
}

/* The first slab of a list, in use again. */
static struct slab *first_locked(struct pool_home *ph, const struct geometry *g, unsigned list)
{
    struct slab *s = list_first(&ph->ph_lists[list], struct slab, sl_link);
    if (list >= SLAB_EMPTY)
        ph->ph_count.pc_reuse++;
    if (list == SLAB_EMPTY)
        dirty_add(&dirty_slabs, -(int64_t)memory_dirty_bytes(s, g));
    else if (list == SLAB_CLEAN)
        dirty_add_in_use(&dirty_slabs, (int64_t)memory_slab_bytes(g));
    if (list == SLAB_CLEAN)
        dirty_regret(&dirty_slabs, memory_slab_bytes(g));
    list_take_locked(ph, s);
    return s;
}

/* From the lists up to `last`. */
static struct slab *pick_locked(struct pool_home *ph, const struct geometry *g, enum slab_list last)
{
    static const uint8_t order[] = {SLAB_PARTIAL, SLAB_PARTIAL + 1, SLAB_PARTIAL + 2, SLAB_PARTIAL + 3,
                                    SLAB_EMPTY, SLAB_CLEAN};
    for (size_t i = 0; i < sizeof order && order[i] <= last; i++)
        if (ph->ph_n_slabs[order[i]] != 0)
            return first_locked(ph, g, order[i]);
    return NULL;
}

/* An empty slab of another home on the same memory node, for this one. */
static struct slab *move_in(struct pool *pool, unsigned home)
{
    for (unsigned i = home % pool_n_nodes; i < POOL_MAX_HOMES; i += pool_n_nodes) {
        struct pool_home *ph = atomic_load_explicit(&pool->po_home[i], memory_order_acquire);
        if (i == home || ph == NULL)
            continue;
        struct slab *s = NULL;
        lock_acquire(&ph->ph_lock);
        for (unsigned list = SLAB_EMPTY; list <= SLAB_CLEAN && s == NULL; list++)
            if (ph->ph_n_slabs[list] != 0)
                s = first_locked(ph, &pool->po_geometry, list);
        lock_release(&ph->ph_lock);
        if (s != NULL) {
            s->sl_home = (uint8_t)home;
            return s;
        }
    }
    return NULL;
}

static void count_new_locked(struct pool_home *ph, bool fell_back)
{
    ph->ph_count.pc_new++;
    ph->ph_count.pc_fallback += fell_back;
}

/* When memory is out: objects of slabs that stay where they are. */
static size_t take_elsewhere(struct pool *pool, unsigned home, struct entry *out, size_t n)
{
    const struct geometry *g = &pool->po_geometry;
    size_t got = 0;
    for (unsigned i = 0; i < POOL_MAX_HOMES && got < n; i++) {
        struct pool_home *ph = atomic_load_explicit(&pool->po_home[i], memory_order_acquire);
        if (i == home || ph == NULL)
            continue;
        lock_acquire(&ph->ph_lock);
        size_t before = got;
        struct slab *s;
        while (got < n && (s = pick_locked(ph, g, SLAB_CLEAN)) != NULL) {
            got += slab_take(s, g, pool->po_random ? &ph->ph_random : NULL, g->page_objs, out + got, n - got);
            list_put_locked(ph, s, list_for(pool, s));
        }
        ph->ph_n_out += got - before;
        ph->ph_count.pc_take += got - before;
        lock_release(&ph->ph_lock);
    }
    return got;
}

static bool is_young_locked(const struct pool_home *ph)
{
    return ph->ph_count.pc_new <= 1;
}

/* Where the slab that objects were just taken from lies, when all of its pages should be asked for; else NULL. In a
 * pool with many slabs they will soon be in use, and a fault for each costs many times as much as one request. Not in
 * a pool with few, which may never use them (a hundred of those would make a megabyte), and not for objects that a
 * program may leave the larger part of untouched. */
static char *fresh_locked(const struct pool_home *ph, struct slab *s, const struct geometry *g)
{
    enum { MANY_FULL = 8 };
    if (s->sl_is_populated || g->stride_bytes > os_page_size() / 2 || ph->ph_n_slabs[SLAB_FULL] < MANY_FULL)
        return NULL;
    s->sl_is_populated = true;
    return slab_base(s);
}

/* The memory in use is about to grow: what barns keep for nothing is better given back before. Lets go of the lock
 * meanwhile. */
static struct slab *pick_grown_locked(struct pool *pool, struct pool_home *ph)
{
    if (pool_relief != NULL) {
        lock_release(&ph->ph_lock);
        pool_relief(pool, RELIEF_KEPT);
        lock_acquire(&ph->ph_lock);
    }
    return pick_locked(ph, &pool->po_geometry, SLAB_CLEAN);
}

/* In the order in which objects should be used: the last first. */
static void finish_order_locked(struct random_stream *random, struct entry *out, size_t n)
{
    if (random != NULL) {
        random_shuffle(random, out, n, sizeof *out);
        return;
    }
    for (size_t i = 0; i < n / 2; i++) {
        struct entry t = out[i];
        out[i] = out[n - 1 - i];
        out[n - 1 - i] = t;
    }
}

size_t pool_take_partial(struct pool *pool, unsigned home, struct entry *out, size_t n)
{
    const struct geometry *g = &pool->po_geometry;
    struct pool_home *ph = atomic_load_explicit(&pool->po_home[home], memory_order_acquire);
    if (ph == NULL)
        return 0;
    struct random_stream *random = pool->po_random ? &ph->ph_random : NULL;
    size_t got = 0;
    struct slab *s;
    lock_acquire(&ph->ph_lock);
    while (got < n && (s = pick_locked(ph, g, SLAB_PARTIAL + 3)) != NULL) {
        got += slab_take(s, g, random, g->page_objs, out + got, n - got);
        list_put_locked(ph, s, list_for(pool, s));
    }
    ph->ph_n_out += got;
    ph->ph_count.pc_take += got;
    finish_order_locked(random, out, got);
    lock_release(&ph->ph_lock);
    return got;
}

size_t pool_take(struct pool *pool, unsigned home, struct entry *out, size_t n)
{
    enum { FRESH_MOST = 2 };
    const struct geometry *g = &pool->po_geometry;
    struct pool_home *ph = home_get(pool, home);
    if (ph == &pool->po_home0)
        home = 0; /* also when there was no memory for lists of its own: a slab names the home whose lists it is on */
    struct random_stream *random = pool->po_random ? &ph->ph_random : NULL;
    size_t got = 0;
    lock_acquire(&ph->ph_lock);
    /* In its first slab a pool takes pages into use one by one, later whole extents. */
    bool young = is_young_locked(ph);
    char *fresh[FRESH_MOST];
    size_t n_fresh = 0;
    while (got < n) {
        struct slab *s = pick_locked(ph, g, SLAB_EMPTY);
        if (s == NULL)
            s = pick_grown_locked(pool, ph);
        if (s == NULL) {
            bool fell_back = false;
            lock_release(&ph->ph_lock);
            s = move_in(pool, home);
            bool moved = s != NULL;
            if (!moved)
                s = memory_new_slab(pool, home, &fell_back);
            lock_acquire(&ph->ph_lock);
            if (s == NULL)
                s = pick_locked(ph, g, SLAB_CLEAN); /* what relief, or somebody else, brought back */
            else if (!moved)
                count_new_locked(ph, fell_back);
            if (s == NULL)
                break;
            young = is_young_locked(ph);
        }
        got += slab_take(s, g, random, young ? g->page_objs : g->extent_objs, out + got, n - got);
        list_put_locked(ph, s, list_for(pool, s));
        if (!young && n_fresh < FRESH_MOST) {
            fresh[n_fresh] = fresh_locked(ph, s, g);
            n_fresh += fresh[n_fresh] != NULL;
        }
    }
    ph->ph_n_out += got;
    ph->ph_count.pc_take += got;
    finish_order_locked(random, out, got);
    lock_release(&ph->ph_lock);
    for (size_t i = 0; i < n_fresh; i++)
        os_populate(fresh[i], SLUB_GRANULE_BYTES); /* a refusal costs time */
    if (unlikely(got < n))
        got += take_elsewhere(pool, home, out + got, n - got);
    if (unlikely(got == 0 && n != 0)) {
        lock_acquire(&ph->ph_lock);
        ph->ph_count.pc_fail++;
        lock_release(&ph->ph_lock);
    }
    return got;
}

static void give_done(struct pool_home *ph, uint64_t n, bool is_remote)
{
    ph->ph_n_out -= n;
    ph->ph_count.pc_give += n;
    ph->ph_count.pc_remote += is_remote ? n : 0;
    lock_release(&ph->ph_lock);
}

void pool_give(struct pool *pool, unsigned from, const struct entry *e, size_t n)
{
    const struct geometry *g = &pool->po_geometry;
    struct pool_home *ph = NULL;
    unsigned home = 0;
    uint64_t n_here = 0;
    bool emptied = false;
    for (size_t i = 0; i < n; i++) {
        struct slab *s = slab_of_entry(gmap_get(gmap_granule(e[i].en_obj)));
        if (ph == NULL || s->sl_home != home) {
            if (ph != NULL)
                give_done(ph, n_here, home != from);
            home = s->sl_home;
            ph = home_get(pool, home);
            n_here = 0;
            lock_acquire(&ph->ph_lock);
        }
        n_here++;
        slab_put(s, geometry_index(g, slab_offset(e[i].en_obj)));
        unsigned list = list_for(pool, s);
        if (unlikely(list != s->sl_list)) {
            list_take_locked(ph, s);
            list_put_locked(ph, s, list);
            if (list == SLAB_EMPTY) {
                ph->ph_count.pc_empty++;
                s->sl_emptied = atomic_fetch_add_explicit(&n_emptied, 1, memory_order_relaxed);
                dirty_add(&dirty_slabs, (int64_t)memory_dirty_bytes(s, g));
                emptied = true;
            }
        }
    }
    if (ph != NULL)
        give_done(ph, n_here, home != from);
    if (emptied && dirty_is_over(&dirty_slabs)) {
        if (pool_relief == NULL || !pool_relief(pool, RELIEF_DIRTY))
            memory_purge(pool, false);
    }
}

uint64_t pool_n_out(struct pool *pool)
{
    struct pool_totals t;
    pool_totals(pool, &t);
    return t.n_out;
}

void pool_totals(struct pool *pool, struct pool_totals *t)
{
    memset(t, 0, sizeof *t);
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++) {
        struct pool_home *ph = atomic_load_explicit(&pool->po_home[i], memory_order_acquire);
        if (ph == NULL)
            continue;
        lock_acquire(&ph->ph_lock);
        for (unsigned q = 0; q < 4; q++)
            t->n_partial += ph->ph_n_slabs[SLAB_PARTIAL + q];
        t->n_slabs += ph->ph_n_slabs[SLAB_FULL];
        t->n_empty += ph->ph_n_slabs[SLAB_EMPTY];
        t->n_clean += ph->ph_n_slabs[SLAB_CLEAN];
        t->n_out += ph->ph_n_out;
        const uint64_t *from = (const uint64_t *)&ph->ph_count;
        uint64_t *to = (uint64_t *)&t->count;
        for (size_t k = 0; k < sizeof t->count / sizeof *to; k++)
            to[k] += from[k];
        lock_release(&ph->ph_lock);
    }
    t->n_slabs += t->n_partial;
}

void pool_lock_all(struct pool *pool)
{
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++)
        if (pool->po_home[i] != NULL)
            lock_acquire(&pool->po_home[i]->ph_lock);
}

/* The first of all last: while it is held, no other is made that would be let go without having been taken. */
void pool_unlock_all(struct pool *pool)
{
    for (unsigned i = POOL_MAX_HOMES; i-- > 0;)
        if (pool->po_home[i] != NULL)
            lock_release(&pool->po_home[i]->ph_lock);
}

void pool_rekey(struct pool *pool)
{
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++)
        if (pool->po_home[i] != NULL) {
            uint8_t seed[32];
            entropy_seed(seed); /* may be a system call, so not under the lock */
            lock_acquire(&pool->po_home[i]->ph_lock);
            random_seed(&pool->po_home[i]->ph_random, seed);
            lock_release(&pool->po_home[i]->ph_lock);
        }
}
