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

/* What the fast path finds before the allocator is ready, and for ever with the other back ends. */
char slub_closed_area[PERCPU_ROOMS] SLUB_HIDDEN SLUB_ALIGNED(64);
#if !SLUB_ASM
struct hot slub_hot SLUB_ALIGNED(64) = {.heap_base = HOT_NO_HEAP, .percpu_base = slub_closed_area};
#endif

static bool must_adopt; /* written by a process with one thread [lock:maintenance_lock] */

/* Up to so many CPUs, areas are numbered by CPU. An mm_cid keeps them few, but it wanders: a thread that wakes up gets
 * the lowest that is free, and with it another CPU's sheaf, every line of which must come over (docs/adr/0004). */
enum { BY_CPU_MAX = 8 };

static struct {
    enum percpu_backend backend;
    const char *index_name;
    char *area;
    unsigned n_areas;
    char *closed; /* as many areas of zeros: what the fast path finds in a forked child that has not adopted yet */
    struct lock maintenance_lock;
    _Atomic uint64_t n_skipped;
} percpu; /* all but the last two const after init */

void percpu_prepare(void)
{
    if (SLUB_ASM)
        os_fence_register();
    percpu_rseq_prepare();
}

size_t percpu_area_bytes(void) { return 2 * ((size_t)os_cpu_bound() << PERCPU_SHIFT); }

static char *rseq_area(unsigned cpu) { return percpu.area + ((size_t)cpu << PERCPU_SHIFT); }

void percpu_init(char *area, size_t bytes, percpu_sink *sink)
{
    unsigned bound = os_cpu_bound();
    percpu.area = area;
    percpu.closed = area + ((size_t)bound << PERCPU_SHIFT);
    percpu.n_areas = bound;
    percpu.index_name = "hash";
    bool may_rseq = (options.percpu == PERCPU_AUTO || options.percpu == PERCPU_RSEQ) && !options.stats;
    percpu_rseq_prepare(); /* if this comes before the constructor */
    if (may_rseq && bytes >= percpu_area_bytes() && os_show_zeros(area, bytes) == 0 &&
        percpu_rseq_init(os_node_bound() == 1 && os_cpu_count() > BY_CPU_MAX, percpu.closed, area,
                         &percpu.index_name)) {
        percpu.backend = BACKEND_RSEQ;
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
    shared_init(area, (unsigned)min_size(min_size(bytes >> PERCPU_SHIFT, bound), 2 * os_cpu_count()));
}

enum percpu_backend percpu_backend(void) { return percpu.backend; }

const char *percpu_backend_name(void)
{
    static const char *const names[] = {"none", "rseq", "thread", "lock"};
    return names[percpu.backend];
}

const char *percpu_index_name(void) { return percpu.index_name; }

unsigned percpu_cpu(void)
{
    if (percpu.backend == BACKEND_RSEQ)
        return percpu_rseq_cpu();
    unsigned cpu, node;
    os_where(&cpu, &node);
    return cpu;
}

size_t percpu_push_bulk(unsigned id, const struct entry *e, size_t n)
{
    if (percpu.backend == BACKEND_RSEQ)
        return percpu_rseq_push_bulk(id, e, n);
    return shared_push_bulk(id, e, n);
}

size_t percpu_pop_bulk(unsigned id, struct entry *e, size_t n)
{
    if (percpu.backend == BACKEND_RSEQ)
        return percpu_rseq_pop_bulk(id, e, n);
    return shared_pop_bulk(id, e, n);
}

/* Give the caller's slot its first array, or one of twice the room. The end is closed first, so that the commit
 * of the move never meets an end of the other array; a section that began before the move is restarted by it,
 * because both are on the same CPU. */
static bool rseq_grow(unsigned cpu, unsigned id)
{
    char *area = rseq_area(cpu);
    bool ok = false;
    lock_acquire(&percpu.maintenance_lock);
    if (!area_is_used(area)) {
        if (os_commit(area, PERCPU_BYTES) != 0)
            goto out;
        area_init(area);
    }
    struct room *r = area_room(area, id);
    unsigned old_order = room_order(r); /* of the array, plus 1: so the order of the next one */
    uint32_t old_begin = slot_load(&area_slot(area, id)->so_begin);
    uint32_t old_end = slot_load(area_end(area, id));
    uint32_t to = old_order < AREA_N_ORDERS ? area_take_array(area, old_order) : 0;
    if (to == 0)
        goto out;
    atomic_store_explicit(area_end(area, id), SLOT_CLOSED_END, memory_order_relaxed);
    ok = percpu_rseq_move_slot(cpu, id, to) == 1;
    if (ok && old_order != 0)
        area_give_array(area, old_order - 1, old_begin);
    if (ok)
        area_note_array(area, id, old_order);
    else
        area_give_array(area, old_order, to);
    atomic_store_explicit(area_end(area, id), ok ? array_end(to, old_order) : old_end, memory_order_release);
out:
    lock_release(&percpu.maintenance_lock);
    return ok;
}

size_t percpu_batch(unsigned id, unsigned cheap_order, unsigned max_order, bool *grown)
{
    *grown = false;
    if (percpu.backend != BACKEND_RSEQ)
        return shared_batch(id, cheap_order, max_order, grown);
    unsigned cpu = percpu_rseq_where();
    if (cpu >= percpu.n_areas)
        return 1;
    struct room *r = area_room(rseq_area(cpu), id);
    /* Before its first use an area cannot be written, misses neither, and no slot there has an array. */
    if (room_order(r) == 0 || room_wants_more(r, cheap_order, max_order))
        *grown = rseq_grow(cpu, id);
    return max_size(room_capacity(r) / 2, 1);
}

/* Empty one slot of another CPU; see the protocol in percpu.h. */
static bool rseq_drain_slot_locked(char *area, unsigned id, bool close, percpu_sink *sink)
{
    struct slot *s = area_slot(area, id);
    struct room *r = area_room(area, id);
    uint32_t begin = slot_load(&s->so_begin), end = slot_load(area_end(area, id));
    if (room_order(r) == 0)
        return true; /* never used */
    if (!options.fence)
        return false;
    atomic_store_explicit(&s->so_begin, SLOT_CLOSED_BEGIN, memory_order_seq_cst);
    atomic_store_explicit(area_end(area, id), SLOT_CLOSED_END, memory_order_seq_cst);
    if (os_fence() != 0) {
        atomic_store_explicit(&s->so_begin, begin, memory_order_seq_cst);
        atomic_store_explicit(area_end(area, id), end, memory_order_seq_cst);
        return false;
    }
    struct entry *e = area_entry(area, begin);
    size_t n = (slot_load(&s->so_pos) - begin) / ENTRY_WORDS;
    /* The sink may take metadata but never comes back here, so the array may be lent to it. */
    for (size_t i = 0; i < n; i += PERCPU_CHUNK)
        sink(id, e + i, min_size(n - i, PERCPU_CHUNK));
    if (close) {
        /* All zero is how a slot begins: closed, without an array. */
        area_give_array(area, room_order(r) - 1, begin);
        room_set_order(r, 0);
        atomic_store_explicit(&s->so_pos, 0, memory_order_relaxed);
        atomic_store_explicit(&s->so_begin, 0, memory_order_relaxed);
        return true;
    }
    atomic_store_explicit(&s->so_pos, begin, memory_order_relaxed);
    /* Without the second fence a section could join the old position and the new end. Then the slot stays closed
     * for push, and its CPU goes the slow way: correct, and only in a sandbox that took the fence away. */
    bool fenced = os_fence() == 0;
    atomic_store_explicit(&s->so_begin, begin, memory_order_seq_cst);
    if (fenced)
        atomic_store_explicit(area_end(area, id), end, memory_order_seq_cst);
    return true;
}

/* The caller's own slots need no fence: they are popped from, as any caller might. So many rounds empty the largest
 * sheaf; other threads of the CPU may go on filling it. */
static void rseq_drain_own(unsigned first, unsigned end, percpu_sink *sink)
{
    enum { ROUNDS = (16 << AREA_N_ORDERS) / PERCPU_CHUNK };
    struct entry e[PERCPU_CHUNK];
    for (unsigned id = first; id < end; id++) {
        size_t n = PERCPU_CHUNK;
        for (unsigned i = 0; i < ROUNDS && n == PERCPU_CHUNK; i++)
            if ((n = percpu_rseq_pop_bulk(id, e, PERCPU_CHUNK)) != 0)
                sink(id, e, n);
    }
}

static unsigned rseq_drain(unsigned first, unsigned end, bool close, percpu_sink *sink)
{
    unsigned n_refused = 0;
    lock_acquire(&percpu.maintenance_lock);
    for (unsigned cpu = 0; cpu < percpu.n_areas; cpu++) {
        char *area = rseq_area(cpu);
        bool refused = false;
        if (!area_is_used(area))
            continue;
        for (unsigned id = first; id < min_size(end, area_head(area)->ah_end_id); id++)
            refused |= !rseq_drain_slot_locked(area, id, close, sink);
        n_refused += refused;
    }
    if (n_refused != 0)
        rseq_drain_own(first, end, sink);
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
        if (area_is_used(rseq_area(cpu)))
            n += slot_n_objs(area_slot(rseq_area(cpu), id));
    return n;
}

unsigned percpu_capacity(unsigned id)
{
    unsigned most = 0;
    if (percpu.backend != BACKEND_RSEQ)
        return shared_capacity(id);
    for (unsigned cpu = 0; cpu < percpu.n_areas; cpu++)
        if (area_is_used(rseq_area(cpu)))
            most = (unsigned)max_size(most, room_capacity(area_room(rseq_area(cpu), id)));
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
    if (percpu.backend != BACKEND_RSEQ)
        shared_fork_child();
    else
        percpu_rseq_set_base(percpu.closed);
    must_adopt = true;
}

/* Every slot is out of reach while hot points to closed areas, so no fence is needed. */
static void rseq_adopt_locked(percpu_sink *sink)
{
    for (unsigned cpu = 0; cpu < percpu.n_areas; cpu++) {
        char *area = rseq_area(cpu);
        if (!area_is_used(area))
            continue;
        for (unsigned id = GMAP_FIRST_CACHE; id < area_head(area)->ah_end_id; id++) {
            struct entry e[PERCPU_CHUNK];
            size_t n;
            while ((n = area_pop_bulk(area, id, e, PERCPU_CHUNK)) != 0)
                sink(id, e, n);
        }
    }
    percpu_rseq_set_base(percpu.area);
}

SLUB_SLOW bool percpu_adopt(percpu_sink *sink)
{
    lock_acquire(&percpu.maintenance_lock);
    bool must = must_adopt;
    if (must && percpu.backend == BACKEND_RSEQ)
        rseq_adopt_locked(sink);
    else if (must)
        shared_drain(GMAP_FIRST_CACHE, SLUB_MAX_CACHES, sink);
    must_adopt = false;
    lock_release(&percpu.maintenance_lock);
    return must;
}
