/* SPDX-License-Identifier: MIT */
/* Arrays and slots of an area; see area.h. Layer: L6. Locking: the caller owns the area or its slot. */
#include "percpu/area.h"

#include <string.h>

#include "barn/barn.h"

_Static_assert(sizeof(struct slot) == 8, "layout.h");
_Static_assert(offsetof(struct slot, so_pos) == SLOT_POS, "layout.h");
_Static_assert(offsetof(struct slot, so_begin) == SLOT_BEGIN, "layout.h");
_Static_assert(offsetof(struct slot, so_end) == SLOT_END, "layout.h");
_Static_assert(sizeof(struct area_head) <= 8 * (PERCPU_FIRST_WORD - PERCPU_HEAD_WORD), "layout.h");
_Static_assert(PERCPU_END_WORD < 0xffff, "positions are 16 bits");

static unsigned array_words(unsigned order) { return 16u << order; }

unsigned slot_capacity(const struct slot *s) { return s->so_order == 0 ? 0 : 2 * SHEAF_OBJS(s->so_order - 1); }

void area_init(char *area)
{
    struct area_head *h = area_head(area);
    if (h->ah_next == 0)
        h->ah_next = PERCPU_FIRST_WORD;
}

uint16_t area_take_array(char *area, unsigned order)
{
    struct area_head *h = area_head(area);
    uint16_t at = h->ah_free[order];
    if (at != 0) {
        h->ah_free[order] = (uint16_t)(uintptr_t)area_words(area)[at];
    } else if (h->ah_next + array_words(order) <= PERCPU_END_WORD) {
        at = (uint16_t)h->ah_next;
        h->ah_next += array_words(order);
    }
    return at;
}

void area_give_array(char *area, unsigned order, uint16_t at)
{
    struct area_head *h = area_head(area);
    area_words(area)[at] = (void *)(uintptr_t)h->ah_free[order];
    h->ah_free[order] = at;
}

uint32_t area_move_slot(char *area, unsigned id, uint16_t begin, unsigned order)
{
    struct slot *s = area_slot(area, id);
    uint16_t to = area_take_array(area, order);
    if (to == 0)
        return 0;
    uint16_t n = 0;
    if (s->so_order != 0) {
        n = (uint16_t)(slot_pos(s) - begin);
        memcpy(area_words(area) + to, area_words(area) + begin, n * sizeof(void *));
        area_give_array(area, s->so_order - 1u, begin);
    }
    atomic_store_explicit(&s->so_pos, (uint16_t)(to + n), memory_order_relaxed);
    s->so_order = (uint8_t)(order + 1);
    return slot_bounds(to, (uint16_t)(to + 2 * SHEAF_OBJS(order)));
}

size_t area_push_bulk(char *area, unsigned id, void *const *objs, size_t n)
{
    struct slot *s = area_slot(area, id);
    uint16_t pos = slot_pos(s), end = slot_end(s);
    if (pos >= end)
        return 0;
    n = min_size(n, (size_t)(end - pos));
    memcpy(area_words(area) + pos, objs, n * sizeof *objs);
    atomic_store_explicit(&s->so_pos, (uint16_t)(pos + n), memory_order_release);
    return n;
}

size_t area_pop_bulk(char *area, unsigned id, void **objs, size_t n)
{
    struct slot *s = area_slot(area, id);
    uint16_t pos = slot_pos(s), begin = slot_begin(s);
    if (pos <= begin)
        return 0;
    n = min_size(n, (size_t)(pos - begin));
    memcpy(objs, area_words(area) + pos - n, n * sizeof *objs);
    atomic_store_explicit(&s->so_pos, (uint16_t)(pos - n), memory_order_release);
    return n;
}
