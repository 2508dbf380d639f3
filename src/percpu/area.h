/* SPDX-License-Identifier: MIT */
/* One area: slots and arrays, as plain memory. What a back end does with its own area, or with another's once
 * it holds still. Layer: L6, inside the directory. */
#ifndef SLUB_PERCPU_AREA_H
#define SLUB_PERCPU_AREA_H

#include <stdatomic.h>

#include "base/lock.h"
#include "percpu/layout.h"

/* Orders of arrays: 16 << order words; SHEAF_OBJS(order) * 2 of them are used. */
#define AREA_N_ORDERS 5

/* The fields are atomic because other CPUs read them for statistics and close them for draining; the fast
 * path uses plain moves of the same widths. */
struct slot {
    _Atomic uint16_t so_pos;
    _Atomic uint8_t so_misses;
    uint8_t so_order; /* 0: no array yet; else order of the array + 1 [lock:maintenance or owner] */
    union {
        _Atomic uint32_t so_bounds; /* both at once, for closing and opening */
        struct {
            _Atomic uint16_t so_begin, so_end;
        };
    };
};

struct area_head {
    struct lock ah_lock;    /* lock back end: held by the user of the area */
    uint32_t ah_next;       /* first word that no array has; 0 before first use */
    uint16_t ah_free[AREA_N_ORDERS]; /* first free array of each order, linked by their first word; 0: none */
    uint16_t ah_begin_unused;
};

#define SLOT_CLOSED 0x0000ffffu /* begin = 0xffff, end = 0 on little endian */

SLUB_FAST struct slot *area_slot(char *area, unsigned id) { return (struct slot *)(void *)area + id; }
SLUB_FAST void **area_words(char *area) { return (void **)(void *)area; }
SLUB_FAST struct area_head *area_head(char *area)
{
    return (struct area_head *)(void *)(area_words(area) + PERCPU_HEAD_WORD);
}

SLUB_FAST uint16_t slot_pos(const struct slot *s) { return atomic_load_explicit(&s->so_pos, memory_order_relaxed); }
SLUB_FAST uint16_t slot_begin(const struct slot *s)
{
    return atomic_load_explicit(&s->so_begin, memory_order_relaxed);
}
SLUB_FAST uint16_t slot_end(const struct slot *s) { return atomic_load_explicit(&s->so_end, memory_order_relaxed); }

SLUB_FAST uint32_t slot_bounds(uint16_t begin, uint16_t end) { return (uint32_t)begin | (uint32_t)end << 16; }

/* Objects in an open slot. */
SLUB_FAST uint32_t slot_n_objs(const struct slot *s)
{
    uint16_t pos = slot_pos(s), begin = slot_begin(s);
    return pos > begin ? (uint32_t)(pos - begin) : 0;
}

/* Room of a slot, open or closed. */
unsigned slot_capacity(const struct slot *s);

void area_init(char *area);

/* Moves in an area that the caller owns. */
size_t area_push_bulk(char *area, unsigned id, void *const *objs, size_t n);
size_t area_pop_bulk(char *area, unsigned id, void **objs, size_t n);

/* Arrays of an area; 0 when it has no room. */
uint16_t area_take_array(char *area, unsigned order);
void area_give_array(char *area, unsigned order, uint16_t at);

/* Give a slot that nobody uses now (its old bounds are `begin`, `pos` is valid) an array of `order`. Stores pos
 * and order, and returns the new bounds; 0 when the area is full, and then nothing has changed. */
uint32_t area_move_slot(char *area, unsigned id, uint16_t begin, unsigned order);

#endif
