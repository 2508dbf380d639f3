/* SPDX-License-Identifier: MIT */
/* Areas behind locks; see shared.h. Layer: L6.
 * Locking: `areas_lock` protects the list of threads' areas; each area's ah_lock its slots. */
#include "percpu/shared.h"

#include <errno.h>
#include <pthread.h>

#include "os/os.h"
#include "percpu/area.h"
#include "region/meta.h"

enum { MAX_COMMON = 64, TRIES = 4 };

/* The record of a thread's area. Records are never freed: a thread that ends leaves its area to the next. */
struct thread_area {
    struct thread_area *ta_next;      /* all of them [lock:areas_lock] */
    struct thread_area *ta_next_free; /* without a thread [lock:areas_lock] */
    char *ta_area;
};

/* What a thread may have instead of an area. */
#define THREAD_NEW NULL                      /* not asked yet */
#define THREAD_NONE ((struct thread_area *)1) /* none to be had, or handed back: use the common ones */

static _Thread_local struct thread_area *own; /* of this thread */

static struct {
    char *common;
    unsigned n_common;
    bool has_threads;
    pthread_key_t key;
    percpu_sink *sink;
    struct lock areas_lock;
    struct thread_area *all, *free;
} shared;

static char *common_area(unsigned i) { return shared.common + ((size_t)i << PERCPU_SHIFT); }

void shared_init(char *areas, unsigned n_areas)
{
    unsigned want = (unsigned)min_size(n_areas, MAX_COMMON);
    if (os_commit(areas, (size_t)want << PERCPU_SHIFT) != 0)
        want = 0;
    shared.common = areas;
    for (unsigned i = 0; i < want; i++)
        area_init(common_area(i));
    shared.n_common = want;
}

static void thread_ends(void *record)
{
    struct thread_area *ta = record;
    own = THREAD_NONE; /* later destructors may allocate and free; they get nothing of their own again */
    lock_acquire(&area_head(ta->ta_area)->ah_lock);
    for (unsigned id = GMAP_FIRST_CACHE; id < area_head(ta->ta_area)->ah_end_id; id++) {
        struct entry e[PERCPU_CHUNK];
        size_t n;
        while ((n = area_pop_bulk(ta->ta_area, id, e, PERCPU_CHUNK)) != 0)
            shared.sink(id, e, n);
    }
    lock_release(&area_head(ta->ta_area)->ah_lock);
    lock_acquire(&shared.areas_lock);
    ta->ta_next_free = shared.free;
    shared.free = ta;
    lock_release(&shared.areas_lock);
}

bool shared_init_threads(percpu_sink *sink)
{
    shared.sink = sink;
    shared.has_threads = pthread_key_create(&shared.key, thread_ends) == 0;
    return shared.has_threads;
}

static struct thread_area *thread_begins(void)
{
    own = THREAD_NONE; /* while pthread_setspecific allocates */
    lock_acquire(&shared.areas_lock);
    struct thread_area *ta = shared.free;
    if (ta != NULL)
        shared.free = ta->ta_next_free;
    lock_release(&shared.areas_lock);
    if (ta == NULL) {
        ta = meta_alloc(sizeof *ta);
        if (ta == NULL)
            return THREAD_NONE;
        ta->ta_area = os_reserve(PERCPU_BYTES);
        if (ta->ta_area == NULL || os_commit(ta->ta_area, PERCPU_BYTES) != 0) {
            if (ta->ta_area != NULL)
                os_release(ta->ta_area, PERCPU_BYTES);
            meta_free(ta, sizeof *ta);
            return THREAD_NONE;
        }
        area_init(ta->ta_area);
        lock_acquire(&shared.areas_lock);
        ta->ta_next = shared.all;
        shared.all = ta;
        lock_release(&shared.areas_lock);
    }
    int saved_errno = errno;
    if (pthread_setspecific(shared.key, ta) != 0) {
        errno = saved_errno; /* libc's calloc set it; the caller may be free() */
        thread_ends(ta);
        return THREAD_NONE;
    }
    return own = ta;
}

/* An area that the caller may change until area_let_go(); NULL when all that were tried are taken. */
static char *area_hold(void)
{
    if (shared.has_threads) {
        struct thread_area *ta = own;
        if (ta == THREAD_NEW)
            ta = thread_begins();
        if (ta != THREAD_NONE)
            return lock_try(&area_head(ta->ta_area)->ah_lock) ? ta->ta_area : NULL;
    }
    if (shared.n_common == 0)
        return NULL;
    unsigned cpu, node;
    os_where(&cpu, &node);
    for (unsigned i = 0; i < TRIES; i++) {
        char *area = common_area((cpu + i) % shared.n_common);
        if (lock_try(&area_head(area)->ah_lock))
            return area;
    }
    return NULL;
}

static void area_let_go(char *area) { lock_release(&area_head(area)->ah_lock); }

size_t shared_push_bulk(unsigned id, const struct entry *e, size_t n)
{
    char *area = area_hold();
    if (area == NULL)
        return 0;
    n = area_push_bulk(area, id, e, n);
    area_let_go(area);
    return n;
}

size_t shared_pop_bulk(unsigned id, struct entry *e, size_t n)
{
    char *area = area_hold();
    if (area == NULL)
        return 0;
    n = area_pop_bulk(area, id, e, n);
    area_let_go(area);
    return n;
}

size_t shared_batch(unsigned id, unsigned cheap_order, unsigned max_order, bool *grown)
{
    char *area = area_hold();
    if (area == NULL)
        return 1;
    struct room *r = area_room(area, id);
    if (room_wants_more(r, cheap_order, max_order))
        *grown = area_grow_slot(area, id, room_order(r));
    size_t batch = max_size(room_capacity(r) / 2, 1);
    area_let_go(area);
    return batch;
}

/* Call fn for every area, its lock held. */
static void for_all_areas(void (*fn)(char *area, void *arg), void *arg)
{
    for (unsigned i = 0; i < shared.n_common; i++) {
        lock_acquire(&area_head(common_area(i))->ah_lock);
        fn(common_area(i), arg);
        area_let_go(common_area(i));
    }
    lock_acquire(&shared.areas_lock);
    struct thread_area *ta = shared.all; /* records stay and are only added at the head */
    lock_release(&shared.areas_lock);
    for (; ta != NULL; ta = ta->ta_next) {
        lock_acquire(&area_head(ta->ta_area)->ah_lock);
        fn(ta->ta_area, arg);
        area_let_go(ta->ta_area);
    }
}

struct drain {
    unsigned first, end;
    percpu_sink *sink;
};

static void drain_area(char *area, void *arg)
{
    const struct drain *d = arg;
    for (unsigned id = d->first; id < min_size(d->end, area_head(area)->ah_end_id); id++) {
        struct entry e[PERCPU_CHUNK];
        size_t n;
        while ((n = area_pop_bulk(area, id, e, PERCPU_CHUNK)) != 0)
            d->sink(id, e, n);
    }
}

unsigned shared_drain(unsigned first, unsigned end, percpu_sink *sink)
{
    struct drain d = {first, end, sink};
    for_all_areas(drain_area, &d);
    return 0;
}

struct count {
    unsigned id, capacity;
    uint64_t n_objs;
};

static void count_area(char *area, void *arg)
{
    struct count *c = arg;
    c->n_objs += slot_n_objs(area_slot(area, c->id));
    c->capacity = (unsigned)max_size(c->capacity, room_capacity(area_room(area, c->id)));
}

uint64_t shared_n_objs(unsigned id)
{
    struct count c = {id, 0, 0};
    for_all_areas(count_area, &c);
    return c.n_objs;
}

unsigned shared_capacity(unsigned id)
{
    struct count c = {id, 0, 0};
    for_all_areas(count_area, &c);
    return c.capacity;
}

static void each_lock(void (*fn)(struct lock *))
{
    for (unsigned i = 0; i < shared.n_common; i++)
        fn(&area_head(common_area(i))->ah_lock);
    for (struct thread_area *ta = shared.all; ta != NULL; ta = ta->ta_next)
        fn(&area_head(ta->ta_area)->ah_lock);
}

static void acquire(struct lock *l) { lock_acquire(l); }
static void release(struct lock *l) { lock_release(l); }

void shared_fork_prepare(void)
{
    lock_acquire(&shared.areas_lock);
    each_lock(acquire);
}

void shared_fork_release(void)
{
    each_lock(release);
    lock_release(&shared.areas_lock);
}

/* Only the caller of fork lives on: the areas of the other threads are free, with what is in them. */
void shared_fork_child(void)
{
    shared.free = NULL;
    for (struct thread_area *ta = shared.all; ta != NULL; ta = ta->ta_next)
        if (ta != own) {
            ta->ta_next_free = shared.free;
            shared.free = ta;
        }
}
