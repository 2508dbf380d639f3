/* SPDX-License-Identifier: MIT */
/* Bins and joining of free runs; see runs.h. Layer: L7. Locking: large_lock, held by the caller. */
#include "large/runs.h"

#include <string.h>

#include "region/meta.h"
#include "service/dirty.h"

/* Bins: one for each length up to 64 granules (4 MiB), then four per doubling. */
enum { EXACT = 64, N_BINS = EXACT + 4 * 34, OLDEST = 16 };

static struct list bins[N_BINS];
static uint64_t bin_bits[(N_BINS + 63) / 64]; /* which bins have something */
static struct list dirty_by_age = {&dirty_by_age, &dirty_by_age};
static uint64_t n_free;

static unsigned bin_of(uint64_t n)
{
    if (n <= EXACT)
        return (unsigned)n - 1;
    unsigned log = log2_floor(n);
    return (unsigned)min_size(EXACT + (log - 6) * 4 + (n >> (log - 2) & 3), N_BINS - 1);
}

void runs_init(void)
{
    for (unsigned i = 0; i < N_BINS; i++)
        list_init(&bins[i]);
}

struct large *runs_record(uint64_t first, uint64_t n)
{
    struct large *lg = meta_alloc(sizeof *lg);
    if (lg == NULL)
        return NULL;
    memset(lg, 0, sizeof *lg);
    lg->lg_first = first;
    lg->lg_n = (uint32_t)n;
    list_init(&lg->lg_link);
    list_init(&lg->lg_age);
    return lg;
}

void runs_drop_record(struct large *lg) { meta_free(lg, sizeof *lg); }

static void unbin(struct large *lg)
{
    unsigned b = bin_of(lg->lg_n);
    list_remove(&lg->lg_link);
    list_remove(&lg->lg_age);
    if (list_is_empty(&bins[b]))
        bin_bits[b / 64] &= ~(1ull << (b % 64));
    dirty_add(&dirty_large, -(int64_t)lg->lg_dirty);
    n_free--;
    lg->lg_state = RUN_HELD;
}

uint64_t runs_skip(const struct large *lg, uint64_t align)
{
    uint64_t at = (uintptr_t)gmap_address(lg->lg_first) >> SLUB_GRANULE_SHIFT;
    return round_up(at, align) - at;
}

struct large *runs_take_free(uint64_t n, uint64_t align)
{
    for (unsigned b = bin_of(n); b < N_BINS; b++) {
        uint64_t bits = bin_bits[b / 64] >> (b % 64);
        if (bits == 0) {
            b |= 63;
            continue;
        }
        b += (unsigned)__builtin_ctzl(bits);
        /* Bins of lengths above EXACT can hold runs that are too short, all can hold runs in the wrong place. */
        for (struct list *l = bins[b].next; l != &bins[b]; l = l->next) {
            struct large *lg = container_of(l, struct large, lg_link);
            if (lg->lg_n >= n + runs_skip(lg, align)) {
                unbin(lg);
                return lg;
            }
        }
    }
    return NULL;
}

static struct large *take_if_free(uint64_t granule)
{
    if (granule >= atomic_load_explicit(&slub_hot.n_granules, memory_order_relaxed))
        return NULL;
    gmap_entry e = gmap_get(granule);
    if (gmap_id(e) != GMAP_LARGE && gmap_id(e) != GMAP_LARGE_TAIL)
        return NULL;
    struct large *lg = gmap_owner(e);
    if (lg->lg_state != RUN_FREE)
        return NULL;
    unbin(lg);
    return lg;
}

struct large *runs_take_after(uint64_t granule) { return take_if_free(granule); }
struct large *runs_take_before(uint64_t granule) { return granule == 0 ? NULL : take_if_free(granule - 1); }

static void map_free(struct large *lg)
{
    gmap_set(lg->lg_first, gmap_pack(lg, GMAP_LARGE_TAIL));
    gmap_set(lg->lg_first + lg->lg_n - 1, gmap_pack(lg, GMAP_LARGE_TAIL));
}

void runs_set_dirty(struct large *lg, uint64_t bytes)
{
    lg->lg_dirty = max_size(bytes, 1);
    lg->lg_dirty_at = 0;
    lg->lg_dirty_n = lg->lg_n;
}

/* Let granules [from, to) be the dirty ones of `lg`, if it is dirty. */
static void set_dirty_range(struct large *lg, uint64_t from, uint64_t to)
{
    lg->lg_dirty_at = (uint32_t)(from - lg->lg_first);
    lg->lg_dirty_n = (uint32_t)(to - from);
}

static uint64_t dirty_from(const struct large *lg) { return lg->lg_first + lg->lg_dirty_at; }
static uint64_t dirty_to(const struct large *lg) { return dirty_from(lg) + lg->lg_dirty_n; }

/* The granules of `gone` now belong to `lg`; entries inside a free run may be stale, so clear the seam. */
static void absorb(struct large *lg, struct large *gone)
{
    const struct large *one = lg->lg_dirty != 0 ? lg : gone, *other = gone->lg_dirty != 0 ? gone : lg;
    uint64_t from = min_size(dirty_from(one), dirty_from(other)), to = max_size(dirty_to(one), dirty_to(other));
    if (gone->lg_first < lg->lg_first)
        lg->lg_first = gone->lg_first;
    lg->lg_n += gone->lg_n;
    lg->lg_dirty += gone->lg_dirty;
    if (lg->lg_dirty != 0)
        set_dirty_range(lg, from, to);
    gmap_set(gone->lg_first, gmap_unowned());
    gmap_set(gone->lg_first + gone->lg_n - 1, gmap_unowned());
    runs_drop_record(gone);
}

void runs_put_free(struct large *lg)
{
    struct large *neighbour;
    for (uint64_t g = lg->lg_first; g < lg->lg_first + lg->lg_n; g++)
        gmap_set(g, gmap_unowned());
    if ((neighbour = runs_take_before(lg->lg_first)) != NULL)
        absorb(lg, neighbour);
    if ((neighbour = runs_take_after(lg->lg_first + lg->lg_n)) != NULL)
        absorb(lg, neighbour);
    unsigned b = bin_of(lg->lg_n);
    lg->lg_dirty = min_size(lg->lg_dirty, (uint64_t)lg->lg_dirty_n << SLUB_GRANULE_SHIFT);
    lg->lg_state = RUN_FREE;
    map_free(lg);
    list_push_front(&bins[b], &lg->lg_link);
    bin_bits[b / 64] |= 1ull << (b % 64);
    if (lg->lg_dirty != 0)
        list_push_front(&dirty_by_age, &lg->lg_age);
    dirty_add(&dirty_large, (int64_t)lg->lg_dirty);
    n_free++;
}

struct large *runs_take_oldest_dirty(void)
{
    struct large *best = NULL;
    int n = 0;
    /* Among the oldest, the longest: purging costs a request each, and short ranges cost more a page. */
    for (struct list *l = dirty_by_age.prev; l != &dirty_by_age && n < OLDEST; l = l->prev, n++) {
        struct large *lg = container_of(l, struct large, lg_age);
        if (best == NULL || lg->lg_n > best->lg_n)
            best = lg;
    }
    if (best == NULL)
        return NULL;
    unbin(best);
    return best;
}

/* Pages are not counted one by one: each part has its share, but none of the dirty granules is known to be clean. */
static void share_dirty(struct large *lg, struct large *rest)
{
    uint64_t from = dirty_from(lg), to = dirty_to(lg), cut = rest->lg_first, bytes = lg->lg_dirty;
    if (to > cut) {
        uint64_t n = to - max_size(from, cut);
        rest->lg_dirty = max_size(bytes / lg->lg_dirty_n * n, 1);
        set_dirty_range(rest, to - n, to);
    }
    if (from >= cut) {
        rest->lg_dirty = bytes;
        lg->lg_dirty = 0;
    } else if (to > cut) {
        lg->lg_dirty = bytes > rest->lg_dirty ? bytes - rest->lg_dirty : 1;
        set_dirty_range(lg, from, cut);
    }
}

struct large *runs_split(struct large *lg, uint64_t n)
{
    struct large *rest = runs_record(lg->lg_first + n, lg->lg_n - n);
    if (rest == NULL)
        return NULL;
    rest->lg_state = RUN_HELD;
    if (lg->lg_dirty != 0)
        share_dirty(lg, rest);
    lg->lg_n = (uint32_t)n;
    return rest;
}

void runs_map_used(struct large *lg, uint64_t from)
{
    for (uint64_t i = from; i < lg->lg_n; i++)
        gmap_set(lg->lg_first + i, gmap_pack(lg, i == 0 ? GMAP_LARGE : GMAP_LARGE_TAIL));
}

uint64_t runs_n_free(void) { return n_free; }
