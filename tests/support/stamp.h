/* SPDX-License-Identifier: MIT */
/* Stamps: every word of a block says whose block it is, so that a block shared by two owners, a
 * lost byte of a realloc and a write from outside all show when the stamp is read back. */
#ifndef SLUB_TESTS_STAMP_H
#define SLUB_TESTS_STAMP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t stamp_word(uint64_t id, size_t index)
{
    return (id * 0x9e3779b97f4a7c15u) ^ (index * 0xff51afd7ed558ccdu);
}

static inline void stamp_fill(void *p, size_t bytes, uint64_t id)
{
    unsigned char *c = p;
    size_t n = bytes / 8, i;
    uint64_t w;

    for (i = 0; i < n; i++) {
        w = stamp_word(id, i);
        memcpy(c + 8 * i, &w, 8);
    }
    w = stamp_word(id, n);
    memcpy(c + 8 * n, &w, bytes % 8);
}

/* Offset of the first byte that is not as stamp_fill() left it; `bytes` when all are. */
static inline size_t stamp_first_bad(const void *p, size_t bytes, uint64_t id)
{
    const unsigned char *c = p;
    size_t n = bytes / 8, i;
    uint64_t w;

    for (i = 0; i < n; i++) {
        w = stamp_word(id, i);
        if (memcmp(c + 8 * i, &w, 8) != 0)
            return 8 * i;
    }
    w = stamp_word(id, n);
    return memcmp(c + 8 * n, &w, bytes % 8) != 0 ? 8 * n : bytes;
}

/* Offset of the first byte that is not zero; `bytes` when all are. */
static inline size_t stamp_first_nonzero(const void *p, size_t bytes)
{
    const unsigned char *c = p;
    size_t i = 0;
    uint64_t w;

    for (; i + 8 <= bytes; i += 8) {
        memcpy(&w, c + i, 8);
        if (w != 0)
            break;
    }
    while (i < bytes && c[i] == 0)
        i++;
    return i;
}

#endif
