/* SPDX-License-Identifier: MIT */
/* Reserving and committing address space; see region.h. Layer: L3. Locking: region_lock. */
#include "region/region.h"

#include <errno.h>

#include "os/os.h"
#include "region/meta.h"

/* Steps in which memory is made accessible: a sixteenth of what is in use, within these bounds. Small
 * programs are charged little; large ones make one system call for many slabs. */
enum { STEP_MIN = 1, STEP_MAX = 64 }; /* granules: 64 KiB to 4 MiB */

struct lock region_lock;

static struct {
    uint64_t n_reserved;  /* granules in the reservation */
    uint64_t n_committed; /* granules that are accessible, from the start */
    uint64_t map_bytes;   /* of the address map that are accessible */
    char *percpu;
    size_t percpu_bytes;
} region; /* [lock:region_lock], the last two const after init */

static const uint8_t unowned_state = 0;

_Static_assert(offsetof(struct hot, heap_base) == HOT_HEAP_BASE, "layout.h");
_Static_assert(offsetof(struct hot, n_granules) == HOT_N_GRANULES, "layout.h");
_Static_assert(offsetof(struct hot, gmap) == HOT_GMAP, "layout.h");
_Static_assert(offsetof(struct hot, percpu_base) == HOT_PERCPU_BASE, "layout.h");
_Static_assert(offsetof(struct hot, rseq_cs_offset) == HOT_RSEQ_CS_OFFSET, "layout.h");
_Static_assert(offsetof(struct hot, rseq_id_offset) == HOT_RSEQ_ID_OFFSET, "layout.h");

gmap_entry gmap_unowned(void) { return gmap_pack(&unowned_state, GMAP_NONE); }

int region_init(struct region_sizes want, bool hugepages)
{
    const size_t guard = SLUB_GRANULE_BYTES;
    for (uint64_t heap = round_up(want.heap_bytes, SLUB_GRANULE_BYTES); heap >= (1u << 20); heap /= 2) {
        heap = round_up(heap, SLUB_GRANULE_BYTES);
        uint64_t n = heap >> SLUB_GRANULE_SHIFT;
        size_t map_bytes = round_up(n * sizeof(gmap_entry), SLUB_GRANULE_BYTES);
        size_t percpu_bytes = round_up(want.percpu_bytes, SLUB_GRANULE_BYTES);
        /* One state byte and one eighth of free bits for each 8-byte object is the worst that a heap can
         * ask for; the constant is for sheaves in barns. */
        size_t meta_bytes = round_up(heap / 4 + min_size(heap / 4, 256u << 20), SLUB_GRANULE_BYTES);
        size_t total = map_bytes + percpu_bytes + meta_bytes + heap + 6 * guard;
        char *p = os_reserve(total);
        if (p == NULL)
            continue;
        if (!hugepages)
            os_nohugepage(p, total); /* a refusal costs memory, not correctness */
        char *map = (char *)round_up((uintptr_t)p + guard, SLUB_GRANULE_BYTES);
        char *percpu = map + map_bytes + guard;
        char *meta = percpu + percpu_bytes + guard;
        char *base = meta + meta_bytes + guard;
        region.n_reserved = n;
        region.percpu = percpu;
        region.percpu_bytes = percpu_bytes;
        meta_init(meta, meta_bytes);
        slub_hot.heap_base = (uintptr_t)base;
        slub_hot.gmap = (_Atomic gmap_entry *)(void *)map;
        return 0;
    }
    return -ENOMEM;
}

/* Make the map readable for granules below `end`. */
static bool commit_map_locked(uint64_t end)
{
    uint64_t need = round_up(end * sizeof(gmap_entry), SLUB_GRANULE_BYTES);
    if (need <= region.map_bytes)
        return true;
    if (os_commit((char *)slub_hot.gmap + region.map_bytes, need - region.map_bytes) != 0)
        return false;
    region.map_bytes = need;
    return true;
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
    if (os_commit(p, ask << SLUB_GRANULE_SHIFT) != 0) {
        if (ask == n || os_commit(p, n << SLUB_GRANULE_SHIFT) != 0)
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
