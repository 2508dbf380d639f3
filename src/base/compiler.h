/* SPDX-License-Identifier: MIT */
/* Compiler vocabulary of the project: hot and cold marks, branch hints, container_of.
 * Layer: L0, used by all. */
#ifndef SLUB_BASE_COMPILER_H
#define SLUB_BASE_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLUB_FAST static inline __attribute__((always_inline))
#define SLUB_SLOW __attribute__((noinline, cold))
#define SLUB_HIDDEN __attribute__((visibility("hidden")))
#define SLUB_ALIGNED(n) __attribute__((aligned(n)))

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

/* Largest of two sizes, smallest of two sizes. */
SLUB_FAST size_t max_size(size_t a, size_t b) { return a > b ? a : b; }
SLUB_FAST size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

SLUB_FAST bool is_pow2(size_t x) { return x != 0 && (x & (x - 1)) == 0; }

/* Round up to a power of two `align`; the caller has excluded overflow. */
SLUB_FAST size_t round_up(size_t x, size_t align) { return (x + align - 1) & ~(align - 1); }

/* Position of the highest set bit; x is not 0. */
SLUB_FAST unsigned log2_floor(size_t x) { return 63u - (unsigned)__builtin_clzl(x); }

#endif
