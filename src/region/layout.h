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

/* struct hot: what the fast path reads of the whole heap, in one cache line, without a lock and (because one would be
 * too many) without an ordering instruction. x86-64 keeps the order of loads and of stores. aarch64 keeps that of
 * accesses whose address comes from the value before, so its writers use release stores or os_fence(), which is a
 * barrier in every running thread and sends restartable sequences back to their start.
 *
 * Order of publication, each line after those above it, and what a reader does that has not seen it yet. To leave is
 * to go the slow way, behind the locks.
 *
 *   constructor, or the first call if that is earlier (there is one thread):
 *     rseq_cs_offset   x86-64 has armed a place that nobody reads, aarch64 leaves. Constant from here on: who works
 *                      on an open slot is known to have armed its sequence.
 *   region_init(), once:
 *     gmap             is not read before the next two
 *     heap_base        HOT_NO_HEAP: every address leaves, whatever n_granules says
 *   region_take(), again and again:
 *     entries          0 is GMAP_NONE, whose reciprocal 0 lets no offset pass and whose slot is never open: leaves
 *     n_granules       an address above leaves
 *   sizeclass_init(), once: tables of classes; 0 is GMAP_NONE, as above
 *   percpu_rseq_init(), once, only with that back end:
 *     percpu_base      = closed areas, one for each number; before, the number is 0, and slub_closed_area is one
 *                      area: leaves
 *     os_fence()       nobody is left who would join the old base and a new number
 *     rseq_id_offset   number 0 of the closed areas: leaves. Constant from here on.
 *     os_fence()       nobody is left who would take number 0 to the area of another CPU
 *     percpu_base      = areas; before: leaves
 *   fork, in the child: percpu_base = closed areas, and = areas again by the first thread that is about to allocate
 *   memory_new_slab(), again and again:
 *     slub_recip[id], struct slab, state bytes, then the entry: its reader goes on from the bits of the entry
 *
 * So number and base are read inside the sequence, rseq_cs_offset before it. What others do to the slots of an open
 * area is in percpu/percpu.h. Who frees a live block has it from a thread that saw all of this, and sees it too; a
 * wrong address may meet any of the above and leaves, but for one in the heap that is made up while the heap is: on
 * aarch64 it may find the new n_granules and no map, and ends the program by a signal instead of a report. */
#define HOT_HEAP_BASE 0
#define HOT_N_GRANULES 8
#define HOT_GMAP 16
#define HOT_RSEQ_CS_OFFSET 24
#define HOT_RSEQ_ID_OFFSET 32
#define HOT_PERCPU_BASE 40

/* heap_base before there is a heap: every address of a program lies farther above it, modulo 2^64, than a heap is
 * large. For those have bit 63 clear on x86-64 and bit 55 on aarch64, whatever tag is in the bits that the CPU
 * ignores. */
#define HOT_NO_HEAP 0x8080000000000000

#endif
