/* SPDX-License-Identifier: MIT */
/* Random numbers: a ChaCha stream (8 rounds) seeded by the caller.
 *
 * Layer: L0. Locking: the owner's; a stream is 200 bytes and belongs to one lock or one thread.
 * Invariant: key bytes are overwritten by every refill, so earlier output cannot be computed from a stream
 * that leaks later ("fast key erasure", D. J. Bernstein 2017). */
#ifndef SLUB_BASE_RANDOM_H
#define SLUB_BASE_RANDOM_H

#include <string.h>

#include "base/compiler.h"

struct random_stream {
    uint32_t rs_key[8];
    uint64_t rs_counter;
    uint32_t rs_block[16]; /* output; the first 8 words of every 8th block become the next key */
    unsigned rs_left;      /* unused 16-bit pieces at the start of rs_block */
    bool (*rs_source)(void *, size_t); /* when set and willing, it fills the blocks instead */
};

void random_seed(struct random_stream *rs, const uint8_t seed[32]);

SLUB_SLOW void random_refill(struct random_stream *rs);

/* 16 random bits. */
SLUB_FAST uint32_t random_u16(struct random_stream *rs)
{
    if (unlikely(rs->rs_left == 0))
        random_refill(rs);
    rs->rs_left--;
    return (rs->rs_block[rs->rs_left / 2] >> (rs->rs_left % 2 * 16)) & 0xffff;
}

/* Number in [0, n) for n <= 65536. The bias is below n / 65536. */
SLUB_FAST uint32_t random_below(struct random_stream *rs, uint32_t n) { return (random_u16(rs) * n) >> 16; }

/* Put n elements of `bytes`, at most 16, in random order (Fisher-Yates). */
SLUB_FAST void random_shuffle(struct random_stream *rs, void *array, size_t n, size_t bytes)
{
    char *a = array, t[16];
    for (size_t i = n; i > 1; i--) {
        size_t j = random_below(rs, (uint32_t)i);
        memcpy(t, a + (i - 1) * bytes, bytes);
        memcpy(a + (i - 1) * bytes, a + j * bytes, bytes);
        memcpy(a + j * bytes, t, bytes);
    }
}

#endif
