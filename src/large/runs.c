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

/* The granules of `gone` now belong to `lg`; entries inside a free run may be stale, so clear the seam. */
static void absorb(struct large *lg, struct large *gone)
{
    if (gone->lg_first < lg->lg_first)
        lg->lg_first = gone->lg_first;
    lg->lg_n += gone->lg_n;
    lg->lg_dirty += gone->lg_dirty;
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
    lg->lg_dirty = min_size(lg->lg_dirty, run_bytes(lg));
    lg->lg_state = RUN_FREE;
    lg->lg_bytes = 0;
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

struct large *runs_split(struct large *lg, uint64_t n)
{
    struct large *rest = runs_record(lg->lg_first + n, lg->lg_n - n);
    if (rest == NULL)
        return NULL;
    /* Pages are not counted one by one: each part has its share, but none of a dirty run is known to be clean. */
    if (lg->lg_dirty != 0) {
        uint64_t share = lg->lg_dirty / lg->lg_n * rest->lg_n;
        rest->lg_dirty = share != 0 ? share : 1;
        lg->lg_dirty = lg->lg_dirty > share ? lg->lg_dirty - share : 1;
    }
    lg->lg_n = (uint32_t)n;
    return rest;
}

void runs_map_used(struct large *lg, uint64_t from)
{
    for (uint64_t i = from; i < lg->lg_n; i++)
        gmap_set(lg->lg_first + i, gmap_pack(lg, i == 0 ? GMAP_LARGE : GMAP_LARGE_TAIL));
}

uint64_t runs_n_free(void) { return n_free; }
