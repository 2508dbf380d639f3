/* SPDX-License-Identifier: MIT */
/* Choice of the back end, room of sheaves, draining; see percpu.h. Layer: L6.
 * Locking: maintenance_lock around every change of a slot's bounds or array in the rseq back end. */
#include "percpu/percpu.h"

#include <string.h>

#include "os/os.h"
#include "percpu/area.h"
#include "percpu/rseq.h"
#include "percpu/shared.h"
#include "region/gmap.h"
#include "service/options.h"

/* A slot gets twice the room when it missed this often since it got its present room. */
enum { MISSES_TO_GROW = 4 };

/* What the fast path finds before the allocator is ready, and for ever with the other back ends. */
char slub_closed_area[8 * SLUB_MAX_CACHES] SLUB_HIDDEN SLUB_ALIGNED(64);
#if !SLUB_ASM
struct hot slub_hot SLUB_ALIGNED(64);
#endif

bool percpu_must_adopt;

static struct {
    enum percpu_backend backend;
    const char *index_name;
    char *area;
    unsigned n_areas;
    struct lock maintenance_lock;
    _Atomic uint64_t n_skipped;
} percpu; /* all but the last two const after init */

void percpu_prepare(void)
{
    if (SLUB_ASM)
        os_fence_register();
}

size_t percpu_area_bytes(void) { return (size_t)os_cpu_bound() << PERCPU_SHIFT; }

static char *rseq_area(unsigned cpu) { return percpu.area + ((size_t)cpu << PERCPU_SHIFT); }

void percpu_init(char *area, size_t bytes, percpu_sink *sink)
{
    percpu.area = area;
    percpu.n_areas = (unsigned)(bytes >> PERCPU_SHIFT);
    percpu.index_name = "hash";
    bool may_rseq = (options.percpu == PERCPU_AUTO || options.percpu == PERCPU_RSEQ) && !options.stats;
    if (may_rseq && percpu.n_areas >= os_cpu_bound() && os_show_zeros(area, bytes) == 0 &&
        percpu_rseq_init(os_node_bound() == 1, &percpu.index_name)) {
        percpu.backend = BACKEND_RSEQ;
        slub_hot.percpu_base = area;
        return;
    }
    percpu_rseq_disable();
    bool wants_lock = options.percpu == PERCPU_LOCK || options.stats;
    if (!wants_lock && shared_init_threads(sink)) {
        percpu.backend = BACKEND_THREAD;
        percpu.index_name = "thread";
    } else {
        percpu.backend = BACKEND_LOCK;
    }
    shared_init(area, percpu.n_areas);
}

enum percpu_backend percpu_backend(void) { return percpu.backend; }

const char *percpu_backend_name(void)
{
    static const char *const names[] = {"none", "rseq", "thread", "lock"};
    return names[percpu.backend];
}

const char *percpu_index_name(void) { return percpu.index_name; }

void *percpu_pop(unsigned id)
{
    void *obj = NULL;
    return percpu_pop_bulk(id, &obj, 1) == 1 ? obj : NULL;
}

bool percpu_push(unsigned id, void *obj) { return percpu_push_bulk(id, &obj, 1) == 1; }

size_t percpu_push_bulk(unsigned id, void *const *objs, size_t n)
{
    if (percpu.backend == BACKEND_RSEQ)
        return percpu_rseq_push_bulk(id, objs, n);
    return shared_push_bulk(id, objs, n);
}

size_t percpu_pop_bulk(unsigned id, void **objs, size_t n)
{
    if (percpu.backend == BACKEND_RSEQ)
        return percpu_rseq_pop_bulk(id, objs, n);
    return shared_pop_bulk(id, objs, n);
}

/* True when a slot of this order, after this many misses, should have more room. */
static bool wants_room(const struct slot *s, unsigned max_order)
{
    if (s->so_order == 0)
        return true;
    return s->so_order - 1u < max_order &&
           atomic_load_explicit(&s->so_misses, memory_order_relaxed) >= MISSES_TO_GROW;
}

static void count_miss(struct slot *s)
{
    uint8_t n = atomic_load_explicit(&s->so_misses, memory_order_relaxed);
    if (n < UINT8_MAX)
        atomic_store_explicit(&s->so_misses, (uint8_t)(n + 1), memory_order_relaxed);
}

/* Give the caller's slot its first array, or one of twice the room. */
static bool rseq_grow(unsigned cpu, unsigned id)
{
    char *area = rseq_area(cpu);
    bool ok = false;
    lock_acquire(&percpu.maintenance_lock);
    if (area_head(area)->ah_next == 0) {
        if (os_commit(area, PERCPU_BYTES) != 0)
            goto out;
        area_init(area);
    }
    struct slot *s = area_slot(area, id);
    unsigned old_order = s->so_order, begin = slot_begin(s);
    uint16_t to = area_take_array(area, old_order); /* so_order is the order plus 1 */
    if (to == 0)
        goto out;
    uint64_t bounds = slot_bounds(to, (uint16_t)(to + 2 * SHEAF_OBJS(old_order)));
    ok = percpu_rseq_move_slot(cpu, id, to, bounds << 32 | (uint64_t)(old_order + 1) << 24) == 1;
    if (!ok)
        area_give_array(area, old_order, to);
    else if (old_order != 0)
        area_give_array(area, old_order - 1, (uint16_t)begin);
out:
    lock_release(&percpu.maintenance_lock);
    return ok;
}

size_t percpu_batch(unsigned id, unsigned max_order, bool *grown)
{
    *grown = false;
    if (percpu.backend != BACKEND_RSEQ)
        return shared_batch(id, max_order, grown);
    unsigned cpu = percpu_rseq_where();
    if (cpu >= percpu.n_areas)
        return 1;
    struct slot *s = area_slot(rseq_area(cpu), id);
    if (wants_room(s, max_order))
        *grown = rseq_grow(cpu, id);
    else
        count_miss(s);
    return max_size(slot_capacity(s) / 2, 1);
}

/* Empty one slot of another CPU; see the protocol in percpu.h. */
static bool rseq_drain_slot_locked(char *area, unsigned id, bool close, percpu_sink *sink)
{
    struct slot *s = area_slot(area, id);
    uint32_t bounds = atomic_load_explicit(&s->so_bounds, memory_order_relaxed);
    uint16_t begin = slot_begin(s), end = slot_end(s);
    if (end == 0)
        return true; /* never used, or closed for good */
    atomic_store_explicit(&s->so_bounds, SLOT_CLOSED, memory_order_seq_cst);
    if (os_fence() != 0) {
        atomic_store_explicit(&s->so_bounds, bounds, memory_order_seq_cst);
        return false;
    }
    uint16_t pos = slot_pos(s);
    void **objs = area_words(area) + begin;
    size_t n = (size_t)(pos - begin);
    /* The sink may allocate metadata but never comes back here, so the array may be lent to it. */
    for (size_t i = 0; i < n; i += SHEAF_MAX_OBJS)
        sink(id, objs + i, min_size(n - i, SHEAF_MAX_OBJS));
    atomic_store_explicit(&s->so_pos, begin, memory_order_relaxed);
    if (close) {
        area_give_array(area, s->so_order - 1u, begin);
        s->so_order = 0;
        return true;
    }
    /* Without the second fence a section could join the old position and the new bounds: it stays closed, and
     * its CPU goes the slow way, which is correct and rare. */
    if (os_fence() != 0)
        return true;
    atomic_store_explicit(&s->so_bounds, slot_bounds(begin, end), memory_order_seq_cst);
    return true;
}

/* Open for a new cache the slots that an earlier owner of the id left closed: all zero means "no array yet". */
static void rseq_reset_slot_locked(char *area, unsigned id)
{
    memset((void *)area_slot(area, id), 0, sizeof(struct slot));
}

static unsigned rseq_drain(unsigned first, unsigned end, bool close, percpu_sink *sink)
{
    unsigned n_refused = 0;
    lock_acquire(&percpu.maintenance_lock);
    for (unsigned cpu = 0; cpu < percpu.n_areas; cpu++) {
        char *area = rseq_area(cpu);
        bool refused = false;
        if (area_head(area)->ah_next == 0)
            continue;
        for (unsigned id = first; id < end; id++) {
            refused |= !rseq_drain_slot_locked(area, id, close, sink);
            if (close && !refused)
                rseq_reset_slot_locked(area, id);
        }
        n_refused += refused;
    }
    lock_release(&percpu.maintenance_lock);
    return n_refused;
}

unsigned percpu_drain(unsigned id, bool close, percpu_sink *sink)
{
    unsigned first = id == PERCPU_ALL ? GMAP_FIRST_CACHE : id;
    unsigned end = id == PERCPU_ALL ? SLUB_MAX_CACHES : id + 1;
    unsigned n = percpu.backend == BACKEND_RSEQ ? rseq_drain(first, end, close, sink)
                                                : shared_drain(first, end, sink);
    atomic_fetch_add_explicit(&percpu.n_skipped, n, memory_order_relaxed);
    return n;
}

uint64_t percpu_n_objs(unsigned id)
{
    uint64_t n = 0;
    if (percpu.backend != BACKEND_RSEQ)
        return shared_n_objs(id);
    for (unsigned cpu = 0; cpu < percpu.n_areas; cpu++)
        if (area_head(rseq_area(cpu))->ah_next != 0)
            n += slot_n_objs(area_slot(rseq_area(cpu), id));
    return n;
}

unsigned percpu_capacity(unsigned id)
{
    unsigned most = 0;
    if (percpu.backend != BACKEND_RSEQ)
        return shared_capacity(id);
    for (unsigned cpu = 0; cpu < percpu.n_areas; cpu++)
        if (area_head(rseq_area(cpu))->ah_next != 0)
            most = (unsigned)max_size(most, slot_capacity(area_slot(rseq_area(cpu), id)));
    return most;
}

uint64_t percpu_drain_skipped(void) { return atomic_load_explicit(&percpu.n_skipped, memory_order_relaxed); }

void percpu_fork_prepare(void)
{
    lock_acquire(&percpu.maintenance_lock);
    if (percpu.backend != BACKEND_RSEQ)
        shared_fork_prepare();
}

void percpu_fork_release(void)
{
    if (percpu.backend != BACKEND_RSEQ)
        shared_fork_release();
    lock_release(&percpu.maintenance_lock);
}

void percpu_fork_child(void)
{
    if (percpu.backend == BACKEND_RSEQ)
        slub_hot.percpu_base = slub_closed_area;
    else
        shared_fork_child();
    percpu_must_adopt = true;
}

/* Every slot is out of reach while hot points to the closed area, so no fence is needed. */
static void rseq_adopt_locked(percpu_sink *sink)
{
    for (unsigned cpu = 0; cpu < percpu.n_areas; cpu++) {
        char *area = rseq_area(cpu);
        if (area_head(area)->ah_next == 0)
            continue;
        for (unsigned id = GMAP_FIRST_CACHE; id < SLUB_MAX_CACHES; id++) {
            void *objs[SHEAF_MAX_OBJS];
            size_t n;
            while ((n = area_pop_bulk(area, id, objs, SHEAF_MAX_OBJS)) != 0)
                sink(id, objs, n);
        }
    }
    slub_hot.percpu_base = percpu.area;
}

SLUB_SLOW bool percpu_adopt(percpu_sink *sink)
{
    lock_acquire(&percpu.maintenance_lock);
    bool must = percpu_must_adopt;
    if (must && percpu.backend == BACKEND_RSEQ)
        rseq_adopt_locked(sink);
    else if (must)
        shared_drain(GMAP_FIRST_CACHE, SLUB_MAX_CACHES, sink);
    percpu_must_adopt = false;
    lock_release(&percpu.maintenance_lock);
    return must;
}
