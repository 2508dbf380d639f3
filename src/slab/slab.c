/* SPDX-License-Identifier: MIT */
/* Free bits, frontier and order of objects in one slab; see slab.h. Layer: L4. Locking: the home's.
 *
 * Randomness: what comes from the frontier is drawn from a whole step (a page or an extent) by a keyed partial
 * shuffle, so the next address is unknown within the step; what comes from the bits begins at a random place.
 * The pool shuffles the whole batch afterwards. */
#include "slab/slab.h"

#include <string.h>

#include "base/check.h"

enum { STEP_MAX = 256 }; /* objects: places in a step fit a byte, and the draw below a quarter of a KiB of stack */

void slab_init(struct slab *s, const struct geometry *g, uint64_t granule, unsigned home)
{
    list_init(&s->sl_link);
    s->sl_granule = (uint32_t)granule;
    s->sl_home = (uint8_t)home;
    s->sl_free = (uint64_t *)(void *)((char *)s + slab_bits_offset(g));
    memset(s->sl_state, 0, g->n_objs + 1);
    slab_reset(s, g);
}

void slab_reset(struct slab *s, const struct geometry *g)
{
    s->sl_n_free = 0;
    s->sl_frontier = 0;
    s->sl_is_populated = false;
    memset(s->sl_free, 0, slab_n_words(g) * 8);
}

void slab_put(struct slab *s, uint32_t index)
{
    uint64_t bit = 1ull << (index % 64);
    SLUB_ASSERT((s->sl_free[index / 64] & bit) == 0);
    s->sl_free[index / 64] |= bit;
    s->sl_n_free++;
}

static struct entry entry_at(struct slab *s, char *base, const struct geometry *g, size_t index)
{
    return entry_make(base + index * g->stride_bytes, &s->sl_state[index]);
}

/* Take up to n objects whose bits in word w are also in `mask`. */
static size_t take_from_word(struct slab *s, const struct geometry *g, size_t w, uint64_t mask,
                             struct entry *out, size_t n)
{
    char *base = slab_base(s);
    uint64_t bits = s->sl_free[w] & mask;
    size_t got = 0;
    for (; bits != 0 && got < n; bits &= bits - 1) {
        size_t bit = (size_t)__builtin_ctzl(bits);
        s->sl_free[w] &= ~(1ull << bit);
        out[got++] = entry_at(s, base, g, w * 64 + bit);
    }
    return got;
}

/* Take up to n objects from the one at `start` on, around to the one before it. */
static size_t take_from_bits(struct slab *s, const struct geometry *g, size_t start, struct entry *out, size_t n)
{
    size_t n_words = slab_n_words(g);
    size_t w = start / 64;
    uint64_t from_start = ~0ull << (start % 64);
    size_t got = take_from_word(s, g, w, from_start, out, n);
    for (size_t i = 1; i < n_words && got < n; i++) {
        w = w + 1 == n_words ? 0 : w + 1;
        got += take_from_word(s, g, w, ~0ull, out + got, n - got);
    }
    if (got < n)
        got += take_from_word(s, g, start / 64, ~from_start, out + got, n - got);
    s->sl_n_free = (uint16_t)(s->sl_n_free - got);
    return got;
}

/* Take into use one step behind the frontier: hand out up to n of its objects, free the others. */
static size_t take_from_frontier(struct slab *s, const struct geometry *g, struct random_stream *random,
                                 uint32_t step, struct entry *out, size_t n)
{
    char *base = slab_base(s);
    uint32_t first = s->sl_frontier;
    uint32_t count = (uint32_t)min_size(min_size(step, STEP_MAX), g->n_objs - first);
    uint32_t take = (uint32_t)min_size(n, count);
    s->sl_frontier = (uint16_t)(first + count);
    if (random == NULL || take == count) {
        for (uint32_t i = 0; i < take; i++)
            out[i] = entry_at(s, base, g, first + i);
        if (random != NULL)
            random_shuffle(random, out, take, sizeof *out);
        for (uint32_t i = take; i < count; i++)
            slab_put(s, first + i);
        return take;
    }
    uint8_t order[STEP_MAX];
    for (uint32_t i = 0; i < count; i++)
        order[i] = (uint8_t)i;
    for (uint32_t i = 0; i < count; i++) {
        if (i < take) {
            uint32_t j = i + random_below(random, count - i);
            uint8_t drawn = order[j];
            order[j] = order[i];
            out[i] = entry_at(s, base, g, first + drawn);
        } else {
            slab_put(s, first + order[i]);
        }
    }
    return take;
}

/* A random object to begin at: of the latest step, where the free ones of a growing slab are, and when its word is
 * empty, of all in use. */
static size_t start_bit(const struct slab *s, struct random_stream *random, uint32_t step)
{
    uint32_t first = s->sl_frontier > step ? s->sl_frontier - step : 0;
    uint32_t start = first + random_below(random, s->sl_frontier - first);
    return s->sl_free[start / 64] != 0 ? start : random_below(random, s->sl_frontier);
}

size_t slab_take(struct slab *s, const struct geometry *g, struct random_stream *random, uint32_t step,
                 struct entry *out, size_t n)
{
    size_t got = 0;
    if (s->sl_n_free != 0) {
        size_t start = random != NULL ? start_bit(s, random, step) : 0;
        got = take_from_bits(s, g, start, out, n);
    }
    while (got < n && s->sl_frontier < g->n_objs)
        got += take_from_frontier(s, g, random, step, out + got, n - got);
    return got;
}
