/* SPDX-License-Identifier: MIT */
/* Layout of the per-CPU areas, shared by C and assembly. Macros only. Layer: L6. */
#ifndef SLUB_PERCPU_LAYOUT_H
#define SLUB_PERCPU_LAYOUT_H

#include "region/layout.h"

/* One area per CPU (or thread, or shard), 128 KiB of address space, in words of 8 bytes:
 *
 *     word 0 …              word 4096          word 4104 …              word 16384
 *     | slots, one a cache  | struct area_head | arrays of object pointers |
 *
 * A slot says where in the area the sheaf of its cache is, in words:
 *
 *     byte 0      2        3       4       6
 *     | pos       | misses | order | begin | end |
 *
 * Objects are at words [begin, pos); there is room up to `end`. Pop needs pos > begin, push needs pos < end.
 * begin = 0xffff, end = 0 is closed: neither works, whatever pos is; so is all zero. */
#define PERCPU_SHIFT 17
#define PERCPU_BYTES (1 << PERCPU_SHIFT)
#define PERCPU_HEAD_WORD SLUB_MAX_CACHES
#define PERCPU_FIRST_WORD (SLUB_MAX_CACHES + 8)
#define PERCPU_END_WORD (PERCPU_BYTES / 8)

#define SLOT_POS 0
#define SLOT_BEGIN 4
#define SLOT_END 6

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

/* struct class_geometry: what the free path checks with */
#define CLASS_STRIDE 0
#define CLASS_RECIP 4

/* struct slub_cache begins with its id. */
#define CACHE_ID 0

#endif
