/* SPDX-License-Identifier: MIT */
/* One area: slots and arrays, as plain memory. What a back end does with its own area, or with another's once
 * it holds still. Layer: L6, inside the directory. */
#ifndef SLUB_PERCPU_AREA_H
#define SLUB_PERCPU_AREA_H

#include <stdatomic.h>

#include "base/lock.h"
#include "percpu/layout.h"
#include "slab/entry.h"

/* Orders of arrays: 16 << order entries, of which 2 * SHEAF_OBJS(order) are used. */
#define AREA_N_ORDERS 6

#define SLOT_CLOSED_BEGIN UINT32_MAX
#define SLOT_CLOSED_END 0u

/* The fields are atomic because other CPUs read them for statistics and close them for draining; the fast path
 * uses plain moves of the same widths. */
struct slot {
    _Atomic uint32_t so_pos, so_begin;
};

/* What the slow path knows of a slot. */
struct room {
    _Atomic uint8_t ro_misses; /* since it got its array, saturating; a hint */
    /* 0: no array yet; else order of the array + 1 [lock:maintenance or owner; others may read, as a hint] */
    _Atomic uint8_t ro_order;
};

struct area_head {
    struct lock ah_lock;             /* shared back ends: held by the user of the area */
    _Atomic uint32_t ah_next;        /* first word that no array has; 0 before first use, see area_is_used() */
    uint32_t ah_end_id;              /* ids of slots that ever had an array are below; 0 when none */
    uint32_t ah_free[AREA_N_ORDERS]; /* first free array of each order, linked by their first word; 0: none */
};

SLUB_FAST struct entry *area_entry(char *area, uint32_t word)
{
    return (struct entry *)(void *)(area + 8 * (size_t)word);
}
SLUB_FAST struct slot *area_slot(char *area, unsigned id) { return (struct slot *)(void *)area + id; }
SLUB_FAST _Atomic uint32_t *area_end(char *area, unsigned id)
{
    return (_Atomic uint32_t *)(void *)(area + PERCPU_ENDS) + id;
}
SLUB_FAST struct room *area_room(char *area, unsigned id)
{
    return (struct room *)(void *)(area + PERCPU_ROOMS) + id;
}
SLUB_FAST struct area_head *area_head(char *area) { return (struct area_head *)(void *)(area + PERCPU_HEAD); }

SLUB_FAST uint32_t slot_load(const _Atomic uint32_t *field)
{
    return atomic_load_explicit(field, memory_order_relaxed);
}

SLUB_FAST unsigned room_order(const struct room *r) { return atomic_load_explicit(&r->ro_order, memory_order_relaxed); }
SLUB_FAST void room_set_order(struct room *r, unsigned order)
{
    atomic_store_explicit(&r->ro_order, (uint8_t)order, memory_order_relaxed);
}

/* Before its first use an area is without write access. Pairs with area_init(). */
SLUB_FAST bool area_is_used(char *area)
{
    return atomic_load_explicit(&area_head(area)->ah_next, memory_order_acquire) != 0;
}

/* Objects in an open slot. */
SLUB_FAST uint32_t slot_n_objs(const struct slot *s)
{
    uint32_t pos = slot_load(&s->so_pos), begin = slot_load(&s->so_begin);
    return pos > begin ? (pos - begin) / ENTRY_WORDS : 0;
}

/* Room of a slot, open or closed. */
unsigned room_capacity(const struct room *r);

/* End of the array of `order` that begins at a word. */
uint32_t array_end(uint32_t begin, unsigned order);

/* A slot that missed often, or has no array, should get one of twice the room (of order ro_order). Counts a miss
 * otherwise. Arrays of up to `cheap_order` come easily, larger ones, up to `max_order`, to slots that miss all
 * the time. */
bool room_wants_more(struct room *r, unsigned cheap_order, unsigned max_order);

void area_init(char *area);

/* Arrays of an area; 0 when it has no room. */
uint32_t area_take_array(char *area, unsigned order);
void area_give_array(char *area, unsigned order, uint32_t at);

/* Note that the slot of `id` gets an array of `order`. */
void area_note_array(char *area, unsigned id, unsigned order);

/* Moves in an area that the caller owns. */
size_t area_push_bulk(char *area, unsigned id, const struct entry *e, size_t n);
size_t area_pop_bulk(char *area, unsigned id, struct entry *e, size_t n);

/* Give a slot of an area that the caller owns an array of `order`. False when the area is full. */
bool area_grow_slot(char *area, unsigned id, unsigned order);

#endif
