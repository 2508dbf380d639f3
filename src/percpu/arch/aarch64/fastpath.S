/* SPDX-License-Identifier: MIT */
/* Entry points of libslub on aarch64, and the bulk moves of the slow path as restartable sequences.
 * Layer: L6; contract in percpu/rseq.h. */
#include "percpu/arch/aarch64/fastpath_macros.h"

/* void *slub_alloc(size_t size, unsigned flags) */
ENTRY slub_alloc
	cbnz w1, .Lalloc_slow
	SIZE_CLASS .Lalloc_mid
.Lalloc_known:
	POP .Lalloc_slow
	MARK_LIVE .Lalloc_bad
	ret
.Lalloc_mid:
	SIZE_CLASS_MID .Lalloc_known, .Lalloc_slow
.Lalloc_slow:
	b slub_alloc_slow
#if SLUB_STATE
.Lalloc_bad:
	b slub_report_popped_live
#endif
END slub_alloc

FREE_BY_ADDRESS slub_free, slub_free_slow

/* void *slub_cache_alloc(struct slub_cache *cache, unsigned flags) */
ENTRY slub_cache_alloc
	cbnz w1, .Lcache_slow
	ldr w2, [x0, #CACHE_ID]
	POP .Lcache_slow
	MARK_LIVE .Lcache_bad
	ret
.Lcache_slow:
	b slub_cache_alloc_slow
#if SLUB_STATE
.Lcache_bad:
	b slub_report_popped_live
#endif
END slub_cache_alloc

/* void slub_cache_free(struct slub_cache *cache, void *p): the id in the address map must be the cache's
 * before anything is marked, so this does not use FIND_AND_MARK_FREE as it stands. x13 keeps the cache. */
ENTRY slub_cache_free
	mov x13, x0
	mov x0, x1
	ADDRESS x10, slub_hot
	ldp x3, x4, [x10, #HOT_HEAP_BASE]
	sub x3, x0, x3
	lsr x3, x3, #SLUB_GRANULE_SHIFT
	cmp x3, x4
	b.hs .Lcache_free_odd
	ldr x6, [x10, #HOT_GMAP]
	add x6, x6, x3, lsl #3
	ldrh w5, [x6]
	ldr w6, [x13, #CACHE_ID]
	cmp w5, w6
	b.ne .Lcache_free_odd
	FIND_AND_MARK_FREE .Lcache_free_odd
	PUSH .Lcache_free_full
	ret
.Lcache_free_full:
	mov w1, w2
	mov x2, x3
	b slub_free_full
.Lcache_free_odd:
	mov x1, x0
	mov x0, x13
	b slub_cache_free_slow
END slub_cache_free

/* Copy \n words (at least one entry) from [\from] to [\to], eight at a time while there are eight. Clobbers x13 to x15
 * and v0 to v3; \n is kept. */
.macro COPY from, to, n
	mov x13, #0
	sub x14, \n, #8
	cmp \n, #8
	b.lo .Lcopy_one\@
.Lcopy\@:
	add x15, \from, x13, lsl #3
	ldp q0, q1, [x15]
	ldp q2, q3, [x15, #32]
	add x15, \to, x13, lsl #3
	stp q0, q1, [x15]
	stp q2, q3, [x15, #32]
	add x13, x13, #8
	cmp x13, x14
	b.ls .Lcopy\@
	cmp x13, \n
	b.hs .Lcopy_done\@
.Lcopy_one\@:
#if ENTRY_WORDS == 2
	add x15, \from, x13, lsl #3
	ldr q0, [x15]
	add x15, \to, x13, lsl #3
	str q0, [x15]
#else
	ldr x15, [\from, x13, lsl #3]
	str x15, [\to, x13, lsl #3]
#endif
	add x13, x13, #ENTRY_WORDS
	cmp x13, \n
	b.lo .Lcopy_one\@
.Lcopy_done\@:
.endm

/* From a number of entries to one of words, and back. */
.macro WORDS n
	lsl \n, \n, #ENTRY_WORDS - 1
.endm
.macro ENTRIES n
	lsr \n, \n, #ENTRY_WORDS - 1
.endm

/* Begin a section: x4 = area of this CPU, w5 = its number. */
.macro BEGIN name
.L\name\()_restart:
	ARM_SECTION .L\name\()_cs, .L\name\()_none
.L\name\()_start:
	FIND_AREA
.endm

.macro FINISH name
	DESCRIPTOR .L\name\()_cs, .L\name\()_start, .L\name\()_end, .L\name\()_abort
	ABORT .L\name\()_abort, .L\name\()_restart
.endm

/* size_t percpu_rseq_push_bulk(unsigned id, const struct entry *e, size_t n): see percpu/rseq.h. */
ENTRY percpu_rseq_push_bulk
	mov w3, w0
	WORDS x2
	BEGIN push_bulk
	add x6, x4, x3, lsl #3
	LOAD_END 12, 3
	ldr w11, [x6, #SLOT_POS]
	subs w12, w12, w11
	b.ls .Lpush_bulk_none
	cmp x12, x2
	csel x0, x2, x12, hi		/* how many words */
	add x8, x4, x11, lsl #3		/* where they go */
	COPY x1, x8, x0
	add w11, w11, w0
	str w11, [x6, #SLOT_POS]
.Lpush_bulk_end:
	ENTRIES x0
	ret
.Lpush_bulk_none:
	mov x0, #0
	ret
	FINISH push_bulk
END percpu_rseq_push_bulk

/* size_t percpu_rseq_pop_bulk(unsigned id, struct entry *e, size_t n): see percpu/rseq.h. */
ENTRY percpu_rseq_pop_bulk
	mov w3, w0
	WORDS x2
	BEGIN pop_bulk
	add x6, x4, x3, lsl #3
	ldr w11, [x6, #SLOT_POS]
	ldr w12, [x6, #SLOT_BEGIN]
	subs w12, w11, w12
	b.ls .Lpop_bulk_none
	cmp x12, x2
	csel x0, x2, x12, hi		/* how many words */
	sub w11, w11, w0		/* the new top */
	add x8, x4, x11, lsl #3		/* where they are */
	COPY x8, x1, x0
	str w11, [x6, #SLOT_POS]
.Lpop_bulk_end:
	ENTRIES x0
	ret
.Lpop_bulk_none:
	mov x0, #0
	ret
	FINISH pop_bulk
END percpu_rseq_pop_bulk

/* int percpu_rseq_move_slot(unsigned cpu, unsigned id, unsigned to): see percpu/rseq.h. */
ENTRY percpu_rseq_move_slot
	mov w1, w1
	mov w2, w2
	BEGIN move_slot
	cmp w5, w0
	b.ne .Lmove_slot_none
	add x6, x4, x1, lsl #3
	ldr w11, [x6, #SLOT_POS]
	ldr w12, [x6, #SLOT_BEGIN]
	subs w11, w11, w12		/* words to move */
	b.lo .Lmove_slot_none
	b.eq .Lmove_slot_copied
	add x8, x4, x12, lsl #3		/* from here */
	add x9, x4, x2, lsl #3		/* to there */
	COPY x8, x9, x11
.Lmove_slot_copied:
	add w11, w11, w2		/* the new pos */
	orr x11, x11, x2, lsl #32	/* with the new begin */
	str x11, [x6]
.Lmove_slot_end:
	mov w0, #1
	ret
.Lmove_slot_none:
	mov w0, #0
	ret
	FINISH move_slot
END percpu_rseq_move_slot

/* What the fast path reads, as it must be before the first slow path. There is no place for descriptors yet: which
 * offset from the thread pointer hurts nobody differs between C libraries (behind it lies the TLS of the program,
 * before it libc's own thread, whose size changes with every version; of the two words at it libc owns one, and a
 * place needs two), and ld refuses to fill in the offset of a thread-local variable of ours in data. So the offset
 * is 0, where no descriptor can ever go because libc keeps its dtv there, and the fast path leaves when it reads
 * that: one instruction, never taken later. The number is read from the other of the two words, which is 0: other CPUs
 * may see the place for descriptors change before that of the number does. */
	.data
	.globl slub_hot
	.hidden slub_hot
	.type slub_hot, %object
	.balign 64
slub_hot:
	.xword HOT_NO_HEAP, 0, 0
	.xword 0
	.xword 8
	.xword slub_closed_area
	.xword 0, 0
	.size slub_hot, . - slub_hot

	.section .note.GNU-stack, "", %progbits
