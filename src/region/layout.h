/* SPDX-License-Identifier: MIT */
/* Constants that C and assembly share. Macros only. Layer: L3. */
#ifndef SLUB_REGION_LAYOUT_H
#define SLUB_REGION_LAYOUT_H

#define SLUB_GRANULE_SHIFT 16 /* 64 KiB: the offset in a granule is the low half of a 32-bit register */
#define SLUB_GRANULE_BYTES (1 << SLUB_GRANULE_SHIFT)

/* Ids of caches, as the address map holds them. */
#define GMAP_NONE 0
#define GMAP_LARGE 1
#define GMAP_LARGE_TAIL 2
#define GMAP_FIRST_CACHE 8
#define SLUB_MAX_CACHES 4096

/* struct hot */
#define HOT_HEAP_BASE 0
#define HOT_N_GRANULES 8
#define HOT_GMAP 16
#define HOT_PERCPU_BASE 24
#define HOT_RSEQ_CS_OFFSET 32
#define HOT_RSEQ_ID_OFFSET 40

#endif
