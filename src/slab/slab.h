/* SPDX-License-Identifier: MIT */
/* One slab: taking objects out of it and putting them back, without regard to lists.
 *
 * Layer: L4, inside the directory. All calls need the home lock of the slab's pool. */
#ifndef SLUB_SLAB_SLAB_H
#define SLUB_SLAB_SLAB_H

#include "slab/pool.h"

/* Free objects of the slab, those behind the frontier included. */
SLUB_FAST uint32_t slab_n_free(const struct slab *s, const struct geometry *g)
{
    return s->sl_n_free + (g->n_objs - s->sl_frontier);
}

SLUB_FAST char *slab_base(const struct slab *s) { return gmap_address(s->sl_granule); }

SLUB_FAST size_t slab_n_words(const struct geometry *g) { return (g->n_objs + 63) / 64; }

/* Where the free bits begin in a record: behind one state byte more than there are objects, which is never 1, for the
 * place where an object would begin that the slab has no room for. */
SLUB_FAST size_t slab_bits_offset(const struct geometry *g)
{
    return round_up(sizeof(struct slab) + g->n_objs + 1, 8);
}

/* Bytes of a record with its state bytes and free bits. */
SLUB_FAST size_t slab_record_bytes(const struct geometry *g)
{
    return slab_bits_offset(g) + slab_n_words(g) * 8;
}

/* Make a fresh record: nothing in use, pages untouched. */
void slab_init(struct slab *s, const struct geometry *g, uint64_t granule, unsigned home);

/* Take up to n objects. `random` may be NULL: ascending order. `step` is how many objects to take into use at
 * a time when the frontier must move. Returns how many were taken; all that there are when fewer than n. */
size_t slab_take(struct slab *s, const struct geometry *g, struct random_stream *random, uint32_t step,
                 struct entry *out, size_t n);

/* Put the object with this index back. */
void slab_put(struct slab *s, uint32_t index);

/* Forget all use: the pages are gone and everything is free. */
void slab_reset(struct slab *s, const struct geometry *g);

#endif
