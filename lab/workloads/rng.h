/* SPDX-License-Identifier: MIT */
/* Pseudo-random numbers for workloads and tests: small, seeded, and without any state outside the caller's. */
#ifndef SLUB_LAB_RNG_H
#define SLUB_LAB_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t s;
};

/* One step of a splitmix generator: every seed is a good seed, 0 included. */
static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = (r->s += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 … n-1; n must not be 0. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
    return rng_next(r) % n;
}

/* A size of lo to hi, lo > 0, with its logarithm spread evenly: as many of 16…32 as of 16 KiB…32
 * KiB. */
static inline size_t rng_size(struct rng *r, size_t lo, size_t hi)
{
    unsigned n_octaves = 1;
    size_t from, to;

    while (lo << n_octaves < hi)
        n_octaves++;
    from = lo << rng_below(r, n_octaves);
    to = from * 2 < hi ? from * 2 : hi;
    return from + rng_below(r, to - from + 1);
}

#endif
