/* SPDX-License-Identifier: MIT */
/* Allocation, growth and purging of large blocks; see large.h. Layer: L7. Locking: large_lock. */
#include "large/large.h"

#include <string.h>

#include "large/guard.h"
#include "large/runs.h"
#include "os/os.h"
#include "region/region.h"
#include "region/spare.h"
#include "service/dirty.h"
#include "service/options.h"
#include "slab/pool.h"

/* calloc clears used runs up to this size, and purges longer ones: clearing costs about as much as faulting pages in
 * again, but touches all of them. */
enum { CLEAR_AT_MOST = 32 << 20 };

/* Granules that large blocks hand to slabs at a time: one request to the system for many slabs. */
enum { RELIEF_GRANULES = 64 };

/* Blocks of at least this size move by their pages. */
enum { MOVE_FROM = 4 << 20 };

struct lock large_lock;

static struct {
    struct list direct; /* blocks with a mapping of their own */
    _Atomic size_t n_direct;
    uint64_t n_live, live_bytes, n_allocs, n_frees;
} large = {.direct = {&large.direct, &large.direct}}; /* [lock:large_lock] */

static size_t page_round(size_t size) { return round_up(max_size(size, 1), os_page_size()); }

/* Granules of a run for such a block, with room for its guard. */
static uint64_t granules(size_t bytes)
{
    bytes += guard_is_wanted(bytes) ? os_page_size() : 0;
    return (bytes + SLUB_GRANULE_BYTES - 1) >> SLUB_GRANULE_SHIFT;
}

static void *address(const struct large *lg)
{
    return lg->lg_state == RUN_DIRECT ? (void *)(uintptr_t)lg->lg_first : gmap_address(lg->lg_first);
}

size_t large_good_size(size_t size) { return page_round(size); }

static void add_live_locked(int64_t bytes)
{
    large.live_bytes += (uint64_t)bytes;
    dirty_add_in_use(&dirty_large, bytes);
}

static void count_in_locked(const struct large *lg)
{
    large.n_live++;
    large.n_allocs++;
    add_live_locked((int64_t)lg->lg_bytes);
}

/* A mapping that begins at a multiple of `align`: a larger one, cut at both ends. */
static void *map_aligned(size_t bytes, size_t align)
{
    char *p = bytes <= PTRDIFF_MAX - align ? os_map(bytes + align) : NULL;
    if (p == NULL)
        return NULL;
    size_t head = round_up((uintptr_t)p, align) - (uintptr_t)p;
    if (head != 0)
        os_release(p, head);
    if (head != align)
        os_release(p + head + bytes, align - head);
    return p + head;
}

static void *alloc_direct(size_t bytes, size_t align, bool *zeroed)
{
    struct large *lg = runs_record(0, 0);
    if (lg == NULL)
        return NULL;
    void *p = map_aligned(bytes, max_size(align, SLUB_GRANULE_BYTES));
    if (p == NULL) {
        runs_drop_record(lg);
        return NULL;
    }
    lg->lg_state = RUN_DIRECT;
    lg->lg_first = (uintptr_t)p;
    lg->lg_bytes = bytes;
    lock_acquire(&large_lock);
    list_push_front(&large.direct, &lg->lg_link);
    large.n_direct++;
    count_in_locked(lg);
    lock_release(&large_lock);
    if (zeroed != NULL)
        *zeroed = true;
    return p;
}

/* An aligned piece of n granules of a run that was free; what is cut off becomes free. All of the run when there is no
 * record to cut it with. */
static struct large *trim_locked(struct large *lg, uint64_t n, uint64_t align)
{
    uint64_t skip = runs_skip(lg, align);
    if (skip != 0) {
        struct large *head = lg;
        lg = runs_split(head, skip);
        if (lg == NULL)
            return head;
        gmap_set(lg->lg_first + lg->lg_n - 1, gmap_unowned()); /* it names the head */
        runs_put_free(head);
    }
    if (lg->lg_n > n) {
        struct large *rest = runs_split(lg, n);
        if (rest != NULL)
            runs_put_free(rest);
    }
    return lg;
}

/* Granules that nobody has used yet, for a run of n with room to align it. */
static struct large *fresh_run(uint64_t n, uint64_t align)
{
    uint64_t n_taken = n + align - 1;
    uint64_t first = region_take(n_taken, NULL);
    if (first == REGION_NO_GRANULE)
        return NULL;
    struct large *lg = runs_record(first, n_taken);
    if (lg == NULL) /* metadata is out */
        for (uint64_t i = 0; i < n_taken; i++)
            spare_put(first + i);
    return lg;
}

/* Empty slabs of all pools become free runs. */
static bool claim_slabs(void)
{
    bool any = false;
    uint64_t granule;
    if (pool_relief != NULL)
        pool_relief(NULL, RELIEF_SLABS);
    while ((granule = spare_take(0)) != REGION_NO_GRANULE) {
        struct large *lg = runs_record(granule, 1);
        if (lg == NULL) {
            spare_put(granule);
            break;
        }
        runs_set_dirty(lg, 0);
        lock_acquire(&large_lock);
        runs_put_free(lg);
        lock_release(&large_lock);
        any = true;
    }
    return any;
}

static struct large *take_free(uint64_t n, uint64_t align)
{
    lock_acquire(&large_lock);
    struct large *lg = runs_take_free(n, align);
    lock_release(&large_lock);
    return lg;
}

void *large_alloc(size_t size, size_t align, bool *zeroed)
{
    size_t bytes = page_round(size);
    uint64_t n = granules(bytes);
    uint64_t align_n = max_size(align >> SLUB_GRANULE_SHIFT, 1);
    lock_acquire(&large_lock);
    struct large *lg = runs_take_free(n, align_n);
    bool was_free = lg != NULL;
    if (lg == NULL) {
        lock_release(&large_lock);
        void *p = NULL;
        if (bytes >= region_direct_bytes() && (p = alloc_direct(bytes, align, zeroed)) != NULL)
            return p;
        lg = fresh_run(n, align_n);
        if (lg == NULL && (p = alloc_direct(bytes, align, zeroed)) != NULL)
            return p;
        while (lg == NULL && claim_slabs()) {
            lg = take_free(n, align_n);
            was_free = lg != NULL;
        }
        if (lg == NULL)
            return NULL;
        lock_acquire(&large_lock);
    }
    lg->lg_state = RUN_HELD;
    lg = trim_locked(lg, n, align_n);
    if (runs_skip(lg, align_n) != 0) { /* no record to cut it with */
        runs_put_free(lg);
        lock_release(&large_lock);
        return NULL;
    }
    lg->lg_state = RUN_USED;
    uint64_t dirty = lg->lg_dirty;
    lg->lg_dirty = 0;
    lg->lg_bytes = bytes;
    runs_map_used(lg, 0);
    count_in_locked(lg);
    if (dirty == 0 && was_free)
        dirty_regret(&dirty_large, bytes);
    lock_release(&large_lock);
    if (zeroed != NULL)
        *zeroed = dirty == 0 || (bytes > CLEAR_AT_MOST && os_purge(address(lg), bytes) == 0);
    if (unlikely(guard_is_wanted(bytes)))
        guard_install(lg);
    return gmap_address(lg->lg_first);
}

static struct large *find_run(const void *p, gmap_entry e)
{
    struct large *lg = gmap_id(e) == GMAP_LARGE ? gmap_owner(e) : NULL;
    return lg != NULL && gmap_address(lg->lg_first) == p && lg->lg_state == RUN_USED ? lg : NULL;
}

static struct large *find_direct_locked(const void *p)
{
    for (struct list *l = large.direct.next; l != &large.direct; l = l->next) {
        struct large *lg = container_of(l, struct large, lg_link);
        if (lg->lg_first == (uintptr_t)p)
            return lg;
    }
    return NULL;
}

bool large_has_direct(void) { return atomic_load_explicit(&large.n_direct, memory_order_relaxed) != 0; }

struct large *large_find(const void *p, gmap_entry e)
{
    if (gmap_id(e) == GMAP_LARGE)
        return find_run(p, e);
    if (likely(!large_has_direct()) || lock_is_inside())
        return NULL;
    lock_acquire(&large_lock);
    struct large *lg = find_direct_locked(p);
    lock_release(&large_lock);
    return lg;
}

size_t large_usable(const struct large *lg) { return lg->lg_bytes; }

static void count_out_locked(const struct large *lg)
{
    large.n_live--;
    large.n_frees++;
    add_live_locked(-(int64_t)lg->lg_bytes);
}

/* Take a guarded block out of use and its guard away; lets go of the lock meanwhile. False when that fails. */
static SLUB_SLOW bool unguard_locked(struct large *lg)
{
    lg->lg_state = RUN_HELD;
    lock_release(&large_lock);
    bool ok = guard_remove(lg);
    lock_acquire(&large_lock);
    return ok;
}

/* A run whose guard cannot be removed: what lies before the granule where the guard begins. The rest stays HELD for
 * ever. NULL when there is nothing before it, or no record for the rest. */
static SLUB_SLOW struct large *salvage_locked(struct large *lg)
{
    uint64_t n = lg->lg_bytes >> SLUB_GRANULE_SHIFT;
    struct large *rest = n != 0 ? runs_split(lg, n) : NULL;
    if (rest == NULL)
        return NULL;
    runs_map_used(rest, 0);
    lg->lg_guarded = false;
    return lg;
}

/* `dirty` of its bytes may have pages. Lets go of the lock while a guard is removed. */
static void free_run_locked(struct large *lg, uint64_t dirty)
{
    count_out_locked(lg);
    if (unlikely(lg->lg_guarded) && !unguard_locked(lg) && (lg = salvage_locked(lg)) == NULL)
        return;
    runs_set_dirty(lg, dirty);
    runs_put_free(lg);
}

static void free_direct(struct large *lg)
{
    os_release(address(lg), lg->lg_bytes);
    runs_drop_record(lg);
}

/* The block is looked up and let go under one hold of the lock: of two threads that free it at once, one finds
 * nothing, and neither ever follows a record that has become another block's. */
bool large_free(void *p)
{
    lock_acquire(&large_lock);
    struct large *lg = find_run(p, gmap_find(p));
    if (lg != NULL) {
        free_run_locked(lg, lg->lg_bytes);
        lock_release(&large_lock);
        if (dirty_is_over(&dirty_large))
            large_purge(false);
        return true;
    }
    lg = find_direct_locked(p);
    if (lg != NULL) {
        list_remove(&lg->lg_link);
        large.n_direct--;
        count_out_locked(lg);
    }
    lock_release(&large_lock);
    if (lg != NULL)
        free_direct(lg);
    return lg != NULL;
}

/* Where huge pages are asked for, one that begins in a block may go on in the clean granules beside it. */
static int purge_run(const struct large *lg)
{
    if (options.thp == THP_MADVISE)
        return os_purge(address(lg), run_bytes(lg));
    return os_purge(gmap_address(lg->lg_first + lg->lg_dirty_at), (size_t)lg->lg_dirty_n << SLUB_GRANULE_SHIFT);
}

uint64_t large_purge(bool all)
{
    uint64_t bytes = 0;
    while (all || dirty_is_near(&dirty_large)) {
        lock_acquire(&large_lock);
        struct large *lg = runs_take_oldest_dirty();
        lock_release(&large_lock);
        if (lg == NULL)
            break;
        uint64_t dirty = lg->lg_dirty;
        bool ok = purge_run(lg) == 0;
        lock_acquire(&large_lock);
        if (ok)
            lg->lg_dirty = 0;
        runs_put_free(lg);
        lock_release(&large_lock);
        if (!ok)
            break;
        bytes += dirty;
    }
    return bytes;
}

bool large_relieve_space(void)
{
    lock_acquire(&large_lock);
    struct large *lg = runs_take_free(1, 1);
    lock_release(&large_lock);
    if (lg == NULL)
        return false;
    uint64_t n = min_size(lg->lg_n, RELIEF_GRANULES), done = 0;
    if (lg->lg_dirty != 0)
        os_purge(address(lg),
                 n << SLUB_GRANULE_SHIFT); /* a refusal costs memory, not correctness */
    gmap_set(lg->lg_first, gmap_unowned());
    gmap_set(lg->lg_first + lg->lg_n - 1, gmap_unowned());
    while (done < n && spare_put(lg->lg_first + done))
        done++;
    lg->lg_first += done;
    lg->lg_n -= (uint32_t)done;
    if (lg->lg_dirty != 0)
        runs_set_dirty(lg, lg->lg_dirty);
    lock_acquire(&large_lock);
    if (lg->lg_n != 0)
        runs_put_free(lg);
    lock_release(&large_lock);
    if (lg->lg_n == 0)
        runs_drop_record(lg);
    return done != 0;
}

/* Make room behind a used run for `more` granules. */
static bool grow_in_place_locked(struct large *lg, uint64_t more)
{
    struct large *next = runs_take_after(lg->lg_first + lg->lg_n);
    if (next != NULL) {
        if (next->lg_n >= more) {
            struct large *rest = next->lg_n > more ? runs_split(next, more) : NULL;
            uint64_t old_n = lg->lg_n;
            lg->lg_n += next->lg_n;
            if (rest != NULL)
                runs_put_free(rest);
            runs_drop_record(next);
            runs_map_used(lg, old_n);
            return true;
        }
        runs_put_free(next);
        return false;
    }
    uint64_t old_n = lg->lg_n;
    if (!region_extend(lg->lg_first + old_n, more))
        return false;
    lg->lg_n += (uint32_t)more;
    runs_map_used(lg, old_n);
    return true;
}

/* Give back what lies behind n granules. */
static void shrink_locked(struct large *lg, uint64_t n)
{
    struct large *rest = runs_split(lg, n);
    if (rest == NULL)
        return;
    runs_set_dirty(rest, run_bytes(rest));
    runs_put_free(rest);
}

/* To a new place. Moving pages costs no copy and never holds the bytes twice, but a mapping for ever: the kernel joins
 * moved pages with no neighbour. */
static void *move(struct large *lg, size_t size)
{
    void *to = large_alloc(size, 1, NULL);
    if (to == NULL)
        return NULL;
    bool moved = lg->lg_bytes >= MOVE_FROM && os_move(address(lg), to, lg->lg_bytes) == 0;
    if (!moved)
        memcpy(to, address(lg), lg->lg_bytes);
    lock_acquire(&large_lock);
    if (lg->lg_state == RUN_USED) /* else the program freed it meanwhile */
        free_run_locked(lg, moved ? 0 : lg->lg_bytes);
    lock_release(&large_lock);
    if (dirty_is_over(&dirty_large))
        large_purge(false);
    return to;
}

static void *remap_direct(struct large *lg, size_t bytes)
{
    void *p = os_remap(address(lg), lg->lg_bytes, bytes);
    if (p == NULL)
        return NULL;
    lock_acquire(&large_lock);
    add_live_locked((int64_t)bytes - (int64_t)lg->lg_bytes);
    lg->lg_first = (uintptr_t)p;
    lg->lg_bytes = bytes;
    lock_release(&large_lock);
    return p;
}

void *large_realloc(struct large *lg, size_t size)
{
    size_t bytes = page_round(size);
    if (bytes == lg->lg_bytes)
        return address(lg);
    if (lg->lg_state == RUN_DIRECT)
        return remap_direct(lg, bytes);
    uint64_t n = granules(bytes);
    bool in_place = true;
    lock_acquire(&large_lock);
    if (unlikely(lg->lg_guarded)) {
        in_place = unguard_locked(lg);
        lg->lg_state = RUN_USED;
    }
    if (in_place && n < lg->lg_n)
        shrink_locked(lg, n);
    else if (in_place && n > lg->lg_n)
        in_place = grow_in_place_locked(lg, n - lg->lg_n);
    if (in_place) {
        add_live_locked((int64_t)bytes - (int64_t)lg->lg_bytes);
        lg->lg_bytes = bytes;
    }
    lock_release(&large_lock);
    void *to = NULL;
    if (!in_place && bytes > lg->lg_bytes && (to = move(lg, size)) != NULL)
        return to;
    if (unlikely(guard_is_wanted(lg->lg_bytes)) && !lg->lg_guarded)
        guard_install(lg);
    if (dirty_is_over(&dirty_large))
        large_purge(false);
    return bytes > lg->lg_bytes ? NULL : address(lg);
}

void large_totals(struct large_totals *t)
{
    lock_acquire(&large_lock);
    *t = (struct large_totals){large.n_live,  large.live_bytes, large.n_allocs,    large.n_frees,
                               runs_n_free(), guard_count(),    guard_is_refused()};
    lock_release(&large_lock);
}
