/* SPDX-License-Identifier: MIT */
/* Layout of the per-CPU areas, shared by C and assembly. Macros only. Layer: L6. */
#ifndef SLUB_PERCPU_LAYOUT_H
#define SLUB_PERCPU_LAYOUT_H

#include "region/layout.h"

/* One area per CPU (or thread, or shard), 512 KiB of address space, 256 in fast mode:
 *
 *     byte 0             32768              49152               57344          57408 …           524288
 *     | slots, 8 bytes   | ends, 4 bytes    | rooms, 2 bytes    | struct       | arrays of entries |
 *     | a cache          | a cache          | a cache           | area_head    | (slab/entry.h)    |
 *
 * Slot and end say where in the area the sheaf of a cache is, in words of 8 bytes:
 *
 *     slot:  | pos (4 bytes) | begin (4 bytes) |        end:  | end (4 bytes) |
 *
 * Entries are at words [begin, pos); there is room up to `end`. Pop needs pos > begin, push needs pos < end.
 * begin = 0xffffffff is closed for pop, end = 0 closed for push, whatever pos is; all zero is both.
 *
 * pos has 32 bits although 16 would do: a 16-bit store that is loaded again costs 1.2 cycles per call on Zen 5,
 * where a 32-bit one is forwarded for free (docs/adr/0002). */
#if SLUB_STATE
#define ENTRY_WORDS 2 /* the object, and the address of its state byte */
#else
#define ENTRY_WORDS 1
#endif
#define PERCPU_SHIFT (17 + ENTRY_WORDS)
#define PERCPU_BYTES (1 << PERCPU_SHIFT)
#define PERCPU_ENDS (8 * SLUB_MAX_CACHES)
#define PERCPU_ROOMS (12 * SLUB_MAX_CACHES)
#define PERCPU_HEAD (14 * SLUB_MAX_CACHES)
#define PERCPU_FIRST_WORD ((PERCPU_HEAD + 64) / 8)
#define PERCPU_END_WORD (PERCPU_BYTES / 8)

#define SLOT_POS 0
#define SLOT_BEGIN 4

/* Signature before every abort handler; the one that glibc registers. */
#if defined(__x86_64__)
#define PERCPU_RSEQ_SIG 0x53053053
#elif defined(__aarch64__)
#define PERCPU_RSEQ_SIG 0xd428bc00
#endif

/* Size classes: a table by byte up to SMALL_MAX, then one by 128 bytes up to CLASS_MAX. */
#define SIZE_SMALL_MAX 1024
#define SIZE_MID_SHIFT 7
#define SIZE_CLASS_MAX 32768

/* struct slub_cache begins with its id. */
#define CACHE_ID 0

#endif
