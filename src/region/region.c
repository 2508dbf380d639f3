/* SPDX-License-Identifier: MIT */
/* Reserving and committing address space; see region.h. Layer: L3. Locking: region_lock. */
#include "region/region.h"

#include <errno.h>

#include "os/os.h"
#include "region/meta.h"

/* Steps in which memory is made accessible: a sixteenth of what is in use, within these bounds. Small
 * programs are charged little; large ones make one system call for many slabs. */
enum { STEP_MIN = 1, STEP_MAX = 64 }; /* granules: 64 KiB to 4 MiB */

enum { GUARD = SLUB_GRANULE_BYTES };

/* Under a limit, blocks from this part of it on get a mapping of their own. */
enum { DIRECT_SHARE = 16, DIRECT_LEAST = 1 << 20 };

struct lock region_lock;

static struct {
    char *map, *heap;     /* where address map and heap begin */
    uint64_t n_reserved;  /* granules in the reservation */
    uint64_t n_committed; /* granules that are accessible, from the start */
    uint64_t map_bytes;   /* of the address map that are accessible */
    char *percpu;
    size_t percpu_bytes;
    uint64_t direct_bytes;
    bool is_piecewise, hugepages;
} region; /* [lock:region_lock], from `percpu` on const after init */

static const uint8_t unowned_state = 0;

_Static_assert(offsetof(struct hot, heap_base) == HOT_HEAP_BASE, "layout.h");
_Static_assert(offsetof(struct hot, n_granules) == HOT_N_GRANULES, "layout.h");
_Static_assert(offsetof(struct hot, gmap) == HOT_GMAP, "layout.h");
_Static_assert(offsetof(struct hot, percpu_base) == HOT_PERCPU_BASE, "layout.h");
_Static_assert(offsetof(struct hot, rseq_cs_offset) == HOT_RSEQ_CS_OFFSET, "layout.h");
_Static_assert(offsetof(struct hot, rseq_id_offset) == HOT_RSEQ_ID_OFFSET, "layout.h");

gmap_entry gmap_unowned(void) { return gmap_pack(&unowned_state, GMAP_NONE); }

int region_commit(void *p, size_t bytes)
{
    if (!region.is_piecewise)
        return os_commit(p, bytes);
    int r = os_map_at(p, bytes);
    if (r == 0 && !region.hugepages)
        os_nohugepage(p, bytes);
    return r;
}

int region_decommit(void *p, size_t bytes)
{
    return region.is_piecewise ? os_release(p, bytes) : os_decommit(p, bytes);
}

static size_t map_bytes_for(uint64_t end) { return round_up(end * sizeof(gmap_entry), SLUB_GRANULE_BYTES); }

/* Make the map readable for granules below `end`. */
static bool commit_map_locked(uint64_t end)
{
    uint64_t need = map_bytes_for(end);
    if (need <= region.map_bytes)
        return true;
    if (region_commit(region.map + region.map_bytes, need - region.map_bytes) != 0)
        return false;
    region.map_bytes = need;
    return true;
}

/* One state byte and one eighth of free bits for each 8-byte object is the worst that a heap can
 * ask for; the constant is for sheaves in barns. */
static size_t meta_bytes_for(uint64_t heap)
{
    return round_up(heap / 4 + min_size(heap / 4, 256u << 20), SLUB_GRANULE_BYTES);
}

/* Lay out the parts from p on; a per-CPU area that is not yet somewhere lies among them. */
static void lay_out(char *p, uint64_t heap)
{
    region.n_reserved = heap >> SLUB_GRANULE_SHIFT;
    region.map = (char *)round_up((uintptr_t)p + GUARD, SLUB_GRANULE_BYTES);
    char *meta = region.map + map_bytes_for(region.n_reserved) + GUARD;
    if (region.percpu == NULL) {
        region.percpu = meta;
        meta += region.percpu_bytes + GUARD;
    }
    meta_init(meta, meta_bytes_for(heap));
    region.heap = meta + meta_bytes_for(heap) + GUARD;
}

static void publish(void)
{
    atomic_store_explicit(&slub_hot.gmap, (_Atomic gmap_entry *)(void *)region.map, memory_order_relaxed);
    atomic_store_explicit(&slub_hot.heap_base, (uintptr_t)region.heap, memory_order_release);
}

static size_t total_bytes(uint64_t heap)
{
    return map_bytes_for(heap >> SLUB_GRANULE_SHIFT) + region.percpu_bytes + meta_bytes_for(heap) +
           heap + 6 * GUARD;
}

/* Systems map from the top down and programs from two thirds or the bottom up: between a quarter
 * and the half there is nothing, unless somebody chose to. */
static bool init_piecewise(uint64_t heap, uint64_t limit)
{
    char *area = os_reserve(region.percpu_bytes);
    if (area == NULL)
        return false;
    uint64_t room = (uintptr_t)area / 4, r;
    if (!os_random(&r, sizeof r))
        r = (uintptr_t)area * 0x9e3779b97f4a7c15u;
    while (total_bytes(heap) > room / 2)
        heap /= 2;
    region.is_piecewise = true;
    region.percpu = area;
    lay_out((char *)round_up(room + r % (room / 2), SLUB_GRANULE_BYTES),
            round_up(heap, SLUB_GRANULE_BYTES));
    if (commit_map_locked(1)) {
        region.direct_bytes = max_size(limit / DIRECT_SHARE, DIRECT_LEAST);
        publish();
        return true;
    }
    os_release(area, region.percpu_bytes);
    region.is_piecewise = false;
    region.percpu = NULL;
    return false;
}

int region_init(struct region_sizes want, bool hugepages)
{
    region.hugepages = hugepages;
    region.percpu_bytes = round_up(want.percpu_bytes, SLUB_GRANULE_BYTES);
    region.direct_bytes = UINT64_MAX;
    if (want.heap_bytes > want.limit / 4 && init_piecewise(want.heap_bytes, want.limit))
        return 0;
    uint64_t most = min_size(want.heap_bytes, want.limit / 4);
    for (uint64_t heap = round_up(most, SLUB_GRANULE_BYTES); heap >= (1u << 20); heap /= 2) {
        heap = round_up(heap, SLUB_GRANULE_BYTES);
        size_t total = total_bytes(heap);
        char *p = os_reserve(total);
        if (p == NULL)
            continue;
        if (!hugepages)
            os_nohugepage(p, total); /* a refusal costs memory, not correctness */
        lay_out(p, heap);
        publish();
        return 0;
    }
    return -ENOMEM;
}

/* Make granules below `end` accessible. */
static bool commit_heap_locked(uint64_t end, bool *fell_back)
{
    if (end <= region.n_committed)
        return true;
    uint64_t step = region.n_committed / 16;
    step = step < STEP_MIN ? STEP_MIN : step > STEP_MAX ? STEP_MAX : step;
    uint64_t n = end - region.n_committed;
    uint64_t ask = n > step ? n : step;
    if (ask > region.n_reserved - region.n_committed)
        ask = region.n_reserved - region.n_committed;
    char *p = gmap_address(region.n_committed);
    if (region_commit(p, ask << SLUB_GRANULE_SHIFT) != 0) {
        if (ask == n || region_commit(p, n << SLUB_GRANULE_SHIFT) != 0)
            return false;
        ask = n;
        if (fell_back != NULL)
            *fell_back = true;
    }
    region.n_committed += ask;
    return true;
}

/* Hand out granules [first, first + n), where `first` follows the last one in use. */
static bool extend_locked(uint64_t first, uint64_t n, bool *fell_back)
{
    uint64_t end = first + n;
    if (end > region.n_reserved || end < first)
        return false;
    if (!commit_map_locked(end) || !commit_heap_locked(end, fell_back))
        return false;
    for (uint64_t g = first; g < end; g++)
        gmap_set(g, gmap_unowned());
    atomic_store_explicit(&slub_hot.n_granules, end, memory_order_release);
    return true;
}

uint64_t region_take(uint64_t n, bool *fell_back)
{
    lock_acquire(&region_lock);
    uint64_t first = atomic_load_explicit(&slub_hot.n_granules, memory_order_relaxed);
    bool ok = n <= region.n_reserved && extend_locked(first, n, fell_back);
    lock_release(&region_lock);
    return ok ? first : REGION_NO_GRANULE;
}

bool region_extend(uint64_t at, uint64_t n)
{
    lock_acquire(&region_lock);
    bool ok = at == atomic_load_explicit(&slub_hot.n_granules, memory_order_relaxed) &&
              n <= region.n_reserved && extend_locked(at, n, NULL);
    lock_release(&region_lock);
    return ok;
}

uint64_t region_direct_bytes(void) { return region.direct_bytes; }
char *region_percpu_area(void) { return region.percpu; }
size_t region_percpu_bytes(void) { return region.percpu_bytes; }
uint64_t region_reserved_bytes(void) { return region.n_reserved << SLUB_GRANULE_SHIFT; }

uint64_t region_mapped_bytes(void)
{
    lock_acquire(&region_lock);
    uint64_t n = region.n_committed;
    lock_release(&region_lock);
    return n << SLUB_GRANULE_SHIFT;
}
