/* SPDX-License-Identifier: MIT */
/* Arrays and slots of an area; see area.h. Layer: L6. Locking: the caller owns the area or its slot. */
#include "percpu/area.h"

#include <string.h>

#include "barn/barn.h"

/* A slot gets twice the room when it missed this often since it got its present room. */
enum { MISSES_TO_GROW = 4, MISSES_TO_GROW_DEAR = 48 };

_Static_assert(sizeof(struct slot) == 8, "layout.h");
_Static_assert(sizeof(struct entry) == 8 * ENTRY_WORDS, "layout.h");
_Static_assert(PERCPU_FIRST_WORD % ENTRY_WORDS == 0, "layout.h");
_Static_assert(offsetof(struct slot, so_pos) == SLOT_POS, "layout.h");
_Static_assert(offsetof(struct slot, so_begin) == SLOT_BEGIN, "layout.h");
_Static_assert(PERCPU_ROOMS == PERCPU_ENDS + 4 * SLUB_MAX_CACHES, "layout.h");
_Static_assert(PERCPU_HEAD == PERCPU_ROOMS + sizeof(struct room) * SLUB_MAX_CACHES, "layout.h");
_Static_assert(sizeof(struct area_head) <= 8 * PERCPU_FIRST_WORD - PERCPU_HEAD, "layout.h");

static uint32_t array_words(unsigned order) { return (16u << order) * ENTRY_WORDS; }

uint32_t array_end(uint32_t begin, unsigned order) { return begin + 2 * SHEAF_OBJS(order) * ENTRY_WORDS; }

unsigned room_capacity(const struct room *r)
{
    unsigned order = room_order(r);
    return order == 0 ? 0 : 2 * SHEAF_OBJS(order - 1);
}

bool room_wants_more(struct room *r, unsigned cheap_order, unsigned max_order)
{
    unsigned order = room_order(r);
    uint8_t enough = order <= cheap_order ? MISSES_TO_GROW : MISSES_TO_GROW_DEAR;
    uint8_t misses = atomic_load_explicit(&r->ro_misses, memory_order_relaxed);
    if (order == 0 || (order - 1 < max_order && misses >= enough))
        return true;
    if (misses < UINT8_MAX)
        atomic_store_explicit(&r->ro_misses, (uint8_t)(misses + 1), memory_order_relaxed);
    return false;
}

void area_init(char *area)
{
    if (!area_is_used(area))
        atomic_store_explicit(&area_head(area)->ah_next, PERCPU_FIRST_WORD, memory_order_release);
}

uint32_t area_take_array(char *area, unsigned order)
{
    struct area_head *h = area_head(area);
    uint32_t at = h->ah_free[order], next = slot_load(&h->ah_next);
    if (at != 0) {
        h->ah_free[order] = (uint32_t)(uintptr_t)area_entry(area, at)->en_obj;
    } else if (next + array_words(order) <= PERCPU_END_WORD) {
        at = next;
        atomic_store_explicit(&h->ah_next, next + array_words(order), memory_order_relaxed);
    }
    return at;
}

void area_give_array(char *area, unsigned order, uint32_t at)
{
    struct area_head *h = area_head(area);
    area_entry(area, at)->en_obj = (void *)(uintptr_t)h->ah_free[order];
    h->ah_free[order] = at;
}

void area_note_array(char *area, unsigned id, unsigned order)
{
    struct area_head *h = area_head(area);
    struct room *r = area_room(area, id);
    if (id >= h->ah_end_id)
        h->ah_end_id = id + 1;
    room_set_order(r, order + 1);
    atomic_store_explicit(&r->ro_misses, 0, memory_order_relaxed);
}

bool area_grow_slot(char *area, unsigned id, unsigned order)
{
    struct slot *s = area_slot(area, id);
    struct room *r = area_room(area, id);
    unsigned old_order = room_order(r);
    uint32_t begin = slot_load(&s->so_begin), n = slot_n_objs(s);
    uint32_t to = area_take_array(area, order);
    if (to == 0)
        return false;
    if (old_order != 0) {
        memcpy(area_entry(area, to), area_entry(area, begin), n * sizeof(struct entry));
        area_give_array(area, old_order - 1, begin);
    }
    atomic_store_explicit(&s->so_pos, to + n * ENTRY_WORDS, memory_order_relaxed);
    atomic_store_explicit(&s->so_begin, to, memory_order_relaxed);
    atomic_store_explicit(area_end(area, id), array_end(to, order), memory_order_relaxed);
    area_note_array(area, id, order);
    return true;
}

size_t area_push_bulk(char *area, unsigned id, const struct entry *e, size_t n)
{
    struct slot *s = area_slot(area, id);
    uint32_t pos = slot_load(&s->so_pos), end = slot_load(area_end(area, id));
    if (pos >= end)
        return 0;
    n = min_size(n, (end - pos) / ENTRY_WORDS);
    memcpy(area_entry(area, pos), e, n * sizeof *e);
    atomic_store_explicit(&s->so_pos, (uint32_t)(pos + n * ENTRY_WORDS), memory_order_release);
    return n;
}

size_t area_pop_bulk(char *area, unsigned id, struct entry *e, size_t n)
{
    struct slot *s = area_slot(area, id);
    uint32_t pos = slot_load(&s->so_pos);
    n = min_size(n, slot_n_objs(s));
    pos -= (uint32_t)n * ENTRY_WORDS;
    memcpy(e, area_entry(area, pos), n * sizeof *e);
    atomic_store_explicit(&s->so_pos, pos, memory_order_release);
    return n;
}
