/* SPDX-License-Identifier: MIT */
/* A barn: free objects of one cache that one CPU, or some of one memory node, put away; in sheaves, between the CPUs
 * and the slabs.
 *
 * Layer: L5; called by cache, which keeps the barns of a cache and takes from another CPU's when its own is empty. A
 * sheaf is an array of entries; sheaves change hands between CPUs through here, so an object that is freed on one
 * CPU and allocated on another costs one copy of its entry.
 * The barn is a stack: what came last, and is warm, leaves first. The top sheaf may be partly filled.
 *
 * How much it keeps is learnt: BARN_FIRST_BYTES, and a credit that grows by what is wanted again after there was no
 * room for it and leaks away at BARN_LEAK_OBJS a millisecond (docs/adr/0003); at most options.barn_bytes and, with all
 * other barns, options.barn_total_bytes, counting strides and entries. After each second what stayed at the bottom
 * all that second goes back to slabs.
 * Locking: the barn lock; meta's below it. */
#ifndef SLUB_BARN_BARN_H
#define SLUB_BARN_BARN_H

#include <stdatomic.h>

#include "base/compiler.h"
#include "base/lock.h"
#include "slab/entry.h"

/* Objects in a sheaf, by order 0 to SHEAF_MAX_ORDER: a sheaf is 8, 16, … 256 entries long, with its head. */
#define SHEAF_MAX_ORDER 5
#define SHEAF_OBJS(order) ((8u << (order)) - (unsigned)(SHEAF_HEAD_BYTES / sizeof(struct entry)))
#define SHEAF_HEAD_BYTES 16
#define SHEAF_MAX_OBJS SHEAF_OBJS(SHEAF_MAX_ORDER)

#define BARN_FIRST_BYTES (32u << 10)
#define BARN_LEAK_OBJS 1000

struct sheaf {
    struct sheaf *sh_next;
    uint64_t sh_n_objs;
    struct entry sh_entries[];
};

struct barn_counters {
    uint64_t bc_gets, bc_get_objs, bc_get_fails, bc_puts, bc_put_objs, bc_put_fails, bc_trims;
};

struct barn {
    struct lock bn_lock;
    uint32_t bn_object_bytes;  /* stride and entry [const] */
    uint32_t bn_sheaf_order;   /* [const] */
    uint32_t bn_n_spares;
    struct sheaf *bn_top;      /* stack of filled sheaves [lock:bn_lock] */
    struct sheaf *bn_spares;   /* empty ones [lock:bn_lock] */
    _Atomic uint64_t bn_n_objs; /* written under bn_lock; read without it as a hint */
    uint64_t bn_limit_bytes;   /* learnt; as it was at bn_learnt_ms [lock:bn_lock] */
    uint64_t bn_learnt_ms;     /* [lock:bn_lock] */
    uint64_t bn_n_refused;     /* objects without room that were not wanted again yet [lock:bn_lock] */
    uint64_t bn_low;           /* least bn_n_objs since bn_epoch_ms [lock:bn_lock] */
    _Atomic uint64_t bn_epoch_ms; /* [lock:bn_lock; barn_is_due() reads without, relaxed] */
    _Atomic bool bn_is_mixed;      /* objects of other homes were freed here lately; a hint, kept by cache */
    struct barn_counters bn_count; /* [lock:bn_lock] */
} SLUB_ALIGNED(64);                /* neighbours belong to other CPUs */

void barn_init(struct barn *bn, size_t stride_bytes, unsigned sheaf_order);

/* Between open and close the barn is locked and the caller moves objects straight between the sheaf and its own
 * slot, with one copy.
 *   barn_open_filled   the top sheaf, not empty; NULL (and not locked) when the barn is empty. The caller takes
 *                      the last k objects. `counts`: this is the first barn that is asked, so that a request is
 *                      counted once.
 *   barn_open_room     a sheaf with room; NULL (and not locked) when the barn may not keep more. The caller
 *                      appends k objects, at most up to SHEAF_OBJS(bn_sheaf_order).
 * `n_offered` counts the request. */
struct sheaf *barn_open_filled(struct barn *bn, bool counts);
void barn_close_taken(struct barn *bn, struct sheaf *sh, size_t k);
struct sheaf *barn_open_room(struct barn *bn, size_t n_offered);
void barn_close_put(struct barn *bn, struct sheaf *sh, size_t k);

/* Others must serve, perhaps what was put away here in vain: keep more from now on, if that happens often. */
void barn_learn(struct barn *bn);

/* True when there is nothing to take, as it seems from outside. */
SLUB_FAST bool barn_seems_empty(struct barn *bn)
{
    return atomic_load_explicit(&bn->bn_n_objs, memory_order_relaxed) == 0;
}

/* Take up to n objects, from one sheaf; 0 when empty. `counts` as above. */
size_t barn_get(struct barn *bn, struct entry *e, size_t n, bool counts);

/* Put n objects; returns how many it took, from the front. The caller gives the others to slabs. */
size_t barn_put(struct barn *bn, const struct entry *e, size_t n);

/* Take up to n objects, from one sheaf, to give them to slabs: somebody else has more use for the memory. */
size_t barn_give_up(struct barn *bn, struct entry *e, size_t n);

/* What all barns keep: strides and entries. */
uint64_t barn_total_bytes(void);

/* Take up to n objects that were not needed for a second; call after barn_put, until it answers 0. */
size_t barn_trim(struct barn *bn, struct entry *e, size_t n);

/* True when a second has passed since the last look; then barn_trim() may have something. */
bool barn_is_due(struct barn *bn);

/* Give the empty sheaves back. */
void barn_drop_spares(struct barn *bn);

uint64_t barn_n_objs(struct barn *bn);

#endif
