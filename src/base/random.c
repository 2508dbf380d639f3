/* SPDX-License-Identifier: MIT */
/* The stream behind random.h. Layer: L0.
 * Source: RFC 8439 section 2.1 to 2.3 with 8 rounds, a 64-bit counter and a zero nonce. */
#include "base/random.h"

#include <string.h>

static uint32_t rotl(uint32_t x, int n) { return (x << n) | (x >> (32 - n)); }

static void quarter_round(uint32_t *s, int a, int b, int c, int d)
{
    s[a] += s[b];
    s[d] = rotl(s[d] ^ s[a], 16);
    s[c] += s[d];
    s[b] = rotl(s[b] ^ s[c], 12);
    s[a] += s[b];
    s[d] = rotl(s[d] ^ s[a], 8);
    s[c] += s[d];
    s[b] = rotl(s[b] ^ s[c], 7);
}

static void make_block(struct random_stream *rs, uint32_t out[16])
{
    static const uint32_t sigma[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    uint32_t in[16];
    memcpy(in, sigma, sizeof sigma);
    memcpy(in + 4, rs->rs_key, sizeof rs->rs_key);
    in[12] = (uint32_t)rs->rs_counter;
    in[13] = (uint32_t)(rs->rs_counter >> 32);
    in[14] = in[15] = 0;
    rs->rs_counter++;
    memcpy(out, in, sizeof in);
    for (int i = 0; i < 4; i++) {
        quarter_round(out, 0, 4, 8, 12);
        quarter_round(out, 1, 5, 9, 13);
        quarter_round(out, 2, 6, 10, 14);
        quarter_round(out, 3, 7, 11, 15);
        quarter_round(out, 0, 5, 10, 15);
        quarter_round(out, 1, 6, 11, 12);
        quarter_round(out, 2, 7, 8, 13);
        quarter_round(out, 3, 4, 9, 14);
    }
    for (int i = 0; i < 16; i++)
        out[i] += in[i];
}

void random_seed(struct random_stream *rs, const uint8_t seed[32])
{
    memcpy(rs->rs_key, seed, sizeof rs->rs_key);
    rs->rs_counter = 0;
    rs->rs_left = 0;
}

void random_refill(struct random_stream *rs)
{
    rs->rs_left = 2 * sizeof rs->rs_block / sizeof *rs->rs_block;
    if (rs->rs_source != NULL && rs->rs_source(rs->rs_block, sizeof rs->rs_block))
        return;
    if (rs->rs_counter % 8 == 7) {
        uint32_t block[16];
        make_block(rs, block);
        memcpy(rs->rs_key, block, sizeof rs->rs_key);
    }
    make_block(rs, rs->rs_block);
}
