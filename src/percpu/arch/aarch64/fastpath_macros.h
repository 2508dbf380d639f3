/* SPDX-License-Identifier: MIT */
/* The fast paths of aarch64 as assembler macros: the same steps in the same order as in x86_64/, where the
 * contract is percpu/rseq.h. Macros only. Layer: L6.
 *
 * Registers: x0 to x2 hold the arguments, and w2 the id once it is known, until the slow exit, so that an abort can
 * start again and the slow exit is a plain tail call. x10 is the address of slub_hot; the others are scratch. Nothing
 * is pushed, so no CFI is needed beyond start and end.
 *
 * Plain loads and stores are enough on this weakly ordered CPU too: what a section writes is read by sections on the
 * same CPU, and by others only behind a membarrier, a context switch, or a lock (percpu.h, "the only way"). */
#ifndef SLUB_AARCH64_FASTPATH_MACROS_H
#define SLUB_AARCH64_FASTPATH_MACROS_H

#include "percpu/layout.h"

.macro ENTRY name
	.text
	.globl \name
	.type \name, %function
	.balign 64
\name:
	.cfi_startproc
.endm

.macro END name
	.cfi_endproc
	.size \name, . - \name
.endm

/* \reg = address of a symbol of ours. */
.macro ADDRESS reg, symbol
	adrp \reg, \symbol
	add \reg, \reg, :lo12:\symbol
.endm

/* The descriptor of a critical section from \start to \end. It is written by the loader only. */
.macro DESCRIPTOR label, start, end, abort
	.pushsection .data.rel.ro.rseq_cs, "aw", %progbits
	.balign 32
\label:
	.word 0, 0
	.xword \start, \end - \start, \abort
	.popsection
.endm

/* Where the kernel sends an interrupted section: out of line, behind the signature (a brk instruction), back to
 * \restart. */
.macro ABORT label, restart
	.pushsection .text.rseq_abort, "ax", %progbits
	.balign 4
	.inst PERCPU_RSEQ_SIG
\label:
	b \restart
	.popsection
.endm

/* Before a section: write the descriptor \cs to where libc had the kernel look for it. Sets x7 = thread pointer,
 * x10 = slub_hot; clobbers x6, x8. Leaves for \unready before the allocator is (see slub_hot in fastpath.S). The next
 * instruction begins the section. */
.macro ARM_SECTION cs, unready
	ADDRESS x10, slub_hot
	mrs x7, tpidr_el0
	ldr x8, [x10, #HOT_RSEQ_CS_OFFSET]
	cbz x8, \unready
	ADDRESS x6, \cs
	str x6, [x7, x8]
.endm

/* First in a section, and inside it (region/layout.h): x4 = area of this CPU; clobbers x9, and x5, which is its number
 * then. */
.macro FIND_AREA
	ldp x9, x4, [x10, #HOT_RSEQ_ID_OFFSET]
	ldr w5, [x7, x9]
	add x4, x4, x5, lsl #PERCPU_SHIFT
.endm

/* w\to = end of the slot of id x\id in the area x4. */
.macro LOAD_END to, id
	add x\to, x4, #PERCPU_ENDS
	ldr w\to, [x\to, x\id, lsl #2]
.endm

/* w2 = id of the cache. Pops into x0, and the address of its state byte into x5. Leaves for \empty with x0, x1 and w2
 * as they were. Clobbers x4, x6 to x12. Position and begin are loaded one by one, because the position was stored
 * alone: a load wider than the store it reads from has to wait for the cache. */
.macro POP empty
.Lpop\@:
	ARM_SECTION .Lpop_cs\@, \empty
.Lpop_start\@:
	FIND_AREA
	add x6, x4, x2, lsl #3
	ldr w11, [x6, #SLOT_POS]
	ldr w12, [x6, #SLOT_BEGIN]
	cmp w11, w12
	b.ls \empty
	sub w11, w11, #ENTRY_WORDS
#if SLUB_STATE
	add x4, x4, x11, lsl #3
	ldp x9, x5, [x4]
#else
	ldr x9, [x4, x11, lsl #3]
#endif
	str w11, [x6, #SLOT_POS]
.Lpop_end\@:
	mov x0, x9
	DESCRIPTOR .Lpop_cs\@, .Lpop_start\@, .Lpop_end\@, .Lpop_abort\@
	ABORT .Lpop_abort\@, .Lpop\@
.endm

/* x0 = object just popped, x5 = its state byte. Marks it live; leaves for \bad when it is live already. Clobbers x6. */
.macro MARK_LIVE bad
#if SLUB_STATE
	ldrb w6, [x5]
	cbnz w6, \bad
	mov w6, #1
	strb w6, [x5]
#endif
.endm

/* w2 = id, x0 = object, x3 = its state byte. Leaves for \full with all as they were. Clobbers x4 to x12. */
.macro PUSH full
.Lpush\@:
	ARM_SECTION .Lpush_cs\@, \full
.Lpush_start\@:
	FIND_AREA
	add x6, x4, x2, lsl #3
	LOAD_END 12, 2
	ldr w11, [x6, #SLOT_POS]
	cmp w11, w12
	b.hs \full
#if SLUB_STATE
	add x4, x4, x11, lsl #3
	stp x0, x3, [x4]
#else
	str x0, [x4, x11, lsl #3]
#endif
	add w11, w11, #ENTRY_WORDS
	str w11, [x6, #SLOT_POS]
.Lpush_end\@:
	DESCRIPTOR .Lpush_cs\@, .Lpush_start\@, .Lpush_end\@, .Lpush_abort\@
	ABORT .Lpush_abort\@, .Lpush\@
.endm

/* x0 = any address. Sets w2 = id; with a state byte, checks that x0 is the start of a live object of a slab and
 * marks it free. Sets x3 = its state byte. Leaves for \odd with x0 as it was otherwise. Clobbers x3 to x10. */
.macro FIND_AND_MARK_FREE odd
	ADDRESS x10, slub_hot
	ldp x3, x4, [x10, #HOT_HEAP_BASE]
	sub x3, x0, x3
	lsr x5, x3, #SLUB_GRANULE_SHIFT
	cmp x5, x4
	b.hs \odd
	ldr x6, [x10, #HOT_GMAP]
#if SLUB_STATE
	ldr x6, [x6, x5, lsl #3]
	and w2, w6, #0xffff
	lsr x6, x6, #16
	ADDRESS x7, slub_recip
	ldr w9, [x7, x2, lsl #2]
	and w3, w0, #SLUB_GRANULE_BYTES - 1
	umull x3, w3, w9
	cmp w3, w9
	b.hs \odd
	add x3, x6, x3, lsr #32
	ldrb w9, [x3]
	cmp w9, #1
	b.ne \odd
	strb wzr, [x3]
#else
	add x6, x6, x5, lsl #3
	ldrh w2, [x6]
#endif
.endm

/* x0 = size. Sets w2 = id of the size class; leaves for \mid above the table by byte. Clobbers x3. */
.macro SIZE_CLASS mid
	cmp x0, #SIZE_SMALL_MAX
	b.hi \mid
	ADDRESS x3, slub_class_small
	ldrb w2, [x3, x0]
.endm

/* The same above it; leaves for \large above the largest, for \back otherwise. Clobbers x3, x4. */
.macro SIZE_CLASS_MID back, large
	cmp x0, #SIZE_CLASS_MAX
	b.hi \large
	add x3, x0, #(1 << SIZE_MID_SHIFT) - 1
	lsr x3, x3, #SIZE_MID_SHIFT
	ADDRESS x4, slub_class_mid
	ldrb w2, [x4, x3]
	b \back
.endm

/* void *name(size_t size): \slow(size) takes what the fast path cannot. */
.macro ALLOC_BY_SIZE name, slow
ENTRY \name
	SIZE_CLASS .Lmid\@
.Lknown\@:
	POP .Lempty\@
	MARK_LIVE .Lbad\@
	ret
.Lmid\@:
	SIZE_CLASS_MID .Lknown\@, .Lempty\@
.Lempty\@:
	b \slow
#if SLUB_STATE
.Lbad\@:
	b slub_report_popped_live
#endif
END \name
.endm

/* void name(void *p): \slow(p) takes addresses that are not live slab objects. */
.macro FREE_BY_ADDRESS name, slow
ENTRY \name
	FIND_AND_MARK_FREE .Lodd\@
	PUSH .Lfull\@
	ret
.Lfull\@:
	mov w1, w2
	mov x2, x3
	b slub_free_full
.Lodd\@:
	b \slow
END \name
.endm

#endif
