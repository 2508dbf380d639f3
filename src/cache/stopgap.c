/* SPDX-License-Identifier: MIT */
/* The table of stopgap blocks and the list of frees that were put off; see stopgap.h. Layer: L7.
 * Locking: none, and no waiting. Rows and places are claimed by compare-and-swap, so that a handler
 * may interrupt any of this, other threads included. */
#include "cache/stopgap.h"

#include <stdatomic.h>

#include "os/os.h"

enum { N_ROWS = 8192, N_PLACES = 509 };

/* sg_addr of a row that nobody has, or that somebody is filling or emptying. */
#define ROW_FREE  0u
#define ROW_TAKEN 1u

struct stopgap {
    _Atomic uintptr_t sg_addr; /* [published last] */
    const struct slub_cache *sg_cache;
    char *sg_map;
    size_t sg_map_bytes;
};

static struct stopgap rows[N_ROWS];
static _Atomic unsigned end_row; /* rows from here on were never used */
static _Atomic unsigned n_live;

static struct stopgap *claim_row(void)
{
    for (unsigned i = 0; i < N_ROWS; i++) {
        uintptr_t addr = ROW_FREE;
        if (!atomic_compare_exchange_strong(&rows[i].sg_addr, &addr, ROW_TAKEN))
            continue;
        unsigned end = atomic_load(&end_row);
        while (end <= i && !atomic_compare_exchange_weak(&end_row, &end, i + 1))
            ;
        return &rows[i];
    }
    return NULL;
}

void *stopgap_alloc(size_t size, size_t align, const struct slub_cache *c)
{
    size_t page = os_page_size();
    size_t bytes = round_up(max_size(size, 1), page);
    size_t map_bytes = align > page ? bytes + align : bytes;
    if (size > PTRDIFF_MAX - page || map_bytes > PTRDIFF_MAX)
        return NULL;
    struct stopgap *sg = claim_row();
    if (sg == NULL)
        return NULL;
    sg->sg_map = os_map(map_bytes);
    if (sg->sg_map == NULL) {
        atomic_store(&sg->sg_addr, ROW_FREE);
        return NULL;
    }
    sg->sg_map_bytes = map_bytes;
    sg->sg_cache = c;
    uintptr_t addr = round_up((uintptr_t)sg->sg_map, align);
    atomic_fetch_add(&n_live, 1);
    atomic_store(&sg->sg_addr, addr);
    return (void *)addr;
}

static struct stopgap *row_of(const void *p)
{
    if (likely(atomic_load_explicit(&n_live, memory_order_relaxed) == 0) ||
        (uintptr_t)p <= ROW_TAKEN)
        return NULL;
    for (unsigned i = 0; i < atomic_load(&end_row); i++)
        if (atomic_load(&rows[i].sg_addr) == (uintptr_t)p)
            return &rows[i];
    return NULL;
}

size_t stopgap_find(const void *p, const struct slub_cache **c)
{
    const struct stopgap *sg = row_of(p);
    if (sg == NULL)
        return 0;
    if (c != NULL)
        *c = sg->sg_cache;
    return (size_t)(sg->sg_map + sg->sg_map_bytes - (const char *)p);
}

bool stopgap_free(void *p)
{
    struct stopgap *sg = row_of(p);
    uintptr_t addr = (uintptr_t)p;
    if (sg == NULL || !atomic_compare_exchange_strong(&sg->sg_addr, &addr, ROW_TAKEN))
        return false;
    if (os_release(sg->sg_map, sg->sg_map_bytes) != 0)
        os_purge(sg->sg_map,
                 sg->sg_map_bytes); /* too many mappings to cut one: the addresses are lost */
    atomic_fetch_sub(&n_live, 1);
    atomic_store(&sg->sg_addr, ROW_FREE);
    return true;
}

bool stopgap_serves(const struct slub_cache *c)
{
    if (atomic_load(&n_live) == 0)
        return false;
    for (unsigned i = 0; i < atomic_load(&end_row); i++)
        if (atomic_load(&rows[i].sg_addr) > ROW_TAKEN && rows[i].sg_cache == c)
            return true;
    return false;
}

/* ---- frees that were put off
 * --------------------------------------------------------------------- */

/* Pages of these are added when needed and stay. */
struct late {
    struct late *_Atomic la_next;
    _Atomic unsigned la_n_claims; /* places that are in use, or about to be */
    void *_Atomic la_p[N_PLACES];
};

static struct late first_late;

/* Whoever has a claim finds a place: there are as many as claims. */
static bool put_into(struct late *la, void *p)
{
    if (atomic_fetch_add(&la->la_n_claims, 1) >= N_PLACES) {
        atomic_fetch_sub(&la->la_n_claims, 1);
        return false;
    }
    for (unsigned i = 0;; i = (i + 1) % N_PLACES) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&la->la_p[i], &none, p))
            return true;
    }
}

void stopgap_put_off(void *p)
{
    size_t bytes = round_up(sizeof(struct late), os_page_size());
    for (struct late *la = &first_late; !put_into(la, p);) {
        struct late *next = atomic_load(&la->la_next);
        if (next == NULL) {
            struct late *fresh = os_map(bytes);
            if (fresh == NULL)
                return;
            if (atomic_compare_exchange_strong(&la->la_next, &next, fresh))
                next = fresh;
            else
                os_release(fresh, bytes);
        }
        la = next;
    }
}

void stopgap_take_back(void (*give)(void *p))
{
    for (struct late *la = &first_late; la != NULL; la = atomic_load(&la->la_next))
        for (unsigned i = 0; i < N_PLACES; i++) {
            void *p = atomic_exchange(&la->la_p[i], NULL);
            if (p == NULL)
                continue;
            atomic_fetch_sub(&la->la_n_claims, 1);
            give(p);
        }
}
