/* SPDX-License-Identifier: MIT */
/* The fast paths of x86-64 as assembler macros; see percpu/fastpath.h for what they do and why in this order.
 * Macros only. Layer: L6. Registers: arguments stay in rdi (and rsi where said) until the slow exit, so that
 * an abort can start again and the slow exit is a plain tail call. Nothing is pushed, so no CFI is needed
 * beyond start and end. */
#ifndef SLUB_X86_64_FASTPATH_MACROS_H
#define SLUB_X86_64_FASTPATH_MACROS_H

#include "percpu/layout.h"

	.intel_syntax noprefix

.macro ENTRY name
	.text
	.globl \name
	.type \name, @function
	.balign 64
\name:
	.cfi_startproc
.endm

.macro END name
	.cfi_endproc
	.size \name, . - \name
.endm

/* The descriptor of a critical section from \start to \end. It is written by the loader only. */
.macro DESCRIPTOR label, start, end, abort
	.pushsection .data.rel.ro.rseq_cs, "aw", @progbits
	.balign 32
\label:
	.long 0, 0
	.quad \start, \end - \start, \abort
	.popsection
.endm

/* Where the kernel sends an interrupted section: out of line, behind the signature (wrapped in an undefined
 * instruction), back to \restart. */
.macro ABORT label, restart
	.pushsection .text.rseq_abort, "ax", @progbits
	.byte 0x0f, 0xb9, 0x3d
	.long PERCPU_RSEQ_SIG
\label:
	jmp \restart
	.popsection
.endm

/* ecx = id of the cache. Pops into rax, and the address of its state byte into r9. Leaves for \empty with rdi and ecx
 * as they were. Clobbers rdx, rsi, r8. */
.macro POP empty
.Lpop\@:
	mov r8, [rip + slub_hot + HOT_RSEQ_CS_OFFSET]
	lea rax, [rip + .Lpop_cs\@]
	mov fs:[r8], rax
.Lpop_start\@:
	mov r9, [rip + slub_hot + HOT_RSEQ_ID_OFFSET]
	mov edx, fs:[r9]
	shl rdx, PERCPU_SHIFT
	add rdx, [rip + slub_hot + HOT_PERCPU_BASE]
	mov esi, [rdx + rcx*8 + SLOT_POS]
	cmp esi, [rdx + rcx*8 + SLOT_BEGIN]
	jbe \empty
	mov rax, [rdx + rsi*8 - 8*ENTRY_WORDS]
#if SLUB_STATE
	mov r9, [rdx + rsi*8 - 8]
#endif
	sub esi, ENTRY_WORDS
	mov [rdx + rcx*8 + SLOT_POS], esi
.Lpop_end\@:
	DESCRIPTOR .Lpop_cs\@, .Lpop_start\@, .Lpop_end\@, .Lpop_abort\@
	ABORT .Lpop_abort\@, .Lpop\@
.endm

/* rax = object just popped, r9 = its state byte. Marks it live; leaves for \bad when it is live already. */
.macro MARK_LIVE bad
#if SLUB_STATE
	cmp byte ptr [r9], 0
	jne \bad
	mov byte ptr [r9], 1
#endif
.endm

/* ecx = id, rdi = object, r10 = its state byte. Leaves for \full with all as they were. Clobbers rax, rdx, rsi, r8,
 * r9. */
.macro PUSH full
.Lpush\@:
	mov r8, [rip + slub_hot + HOT_RSEQ_CS_OFFSET]
	lea rax, [rip + .Lpush_cs\@]
	mov fs:[r8], rax
.Lpush_start\@:
	mov r9, [rip + slub_hot + HOT_RSEQ_ID_OFFSET]
	mov edx, fs:[r9]
	shl rdx, PERCPU_SHIFT
	add rdx, [rip + slub_hot + HOT_PERCPU_BASE]
	mov esi, [rdx + rcx*8 + SLOT_POS]
	cmp esi, [rdx + rcx*4 + PERCPU_ENDS]
	jae \full
	mov [rdx + rsi*8], rdi
#if SLUB_STATE
	mov [rdx + rsi*8 + 8], r10
#endif
	add esi, ENTRY_WORDS
	mov [rdx + rcx*8 + SLOT_POS], esi
.Lpush_end\@:
	DESCRIPTOR .Lpush_cs\@, .Lpush_start\@, .Lpush_end\@, .Lpush_abort\@
	ABORT .Lpush_abort\@, .Lpush\@
.endm

/* rdi = any address. Sets ecx = id; with a state byte, checks that rdi is the start of a live object of a slab, marks
 * it free, and sets r10 = its state byte. Leaves for \odd with rdi as it was otherwise. Clobbers rax, rdx, r9.
 * The product of offset and reciprocal is the index above and the test for a start below, see geometry_index(). */
.macro FIND_AND_MARK_FREE odd
	mov rdx, rdi
	sub rdx, [rip + slub_hot + HOT_HEAP_BASE]
	shr rdx, SLUB_GRANULE_SHIFT
	cmp rdx, [rip + slub_hot + HOT_N_GRANULES]
	jae \odd
	mov r9, [rip + slub_hot + HOT_GMAP]
#if SLUB_STATE
	mov r9, [r9 + rdx*8]
	movzx ecx, r9w
	shr r9, 16
	lea r10, [rip + slub_recip]
	movzx eax, di
	mov edx, [r10 + rcx*4]
	imul rax, rdx
	cmp eax, edx
	jae \odd
	shr rax, 32
	lea r10, [r9 + rax]
	cmp byte ptr [r10], 1
	jne \odd
	mov byte ptr [r10], 0
#else
	movzx ecx, word ptr [r9 + rdx*8]
#endif
.endm

/* rdi = size. Sets ecx = id of the size class; leaves for \large above the largest. Clobbers rax. */
.macro SIZE_CLASS mid
	cmp rdi, SIZE_SMALL_MAX
	ja \mid
	lea rax, [rip + slub_class_small]
	movzx ecx, byte ptr [rax + rdi]
.endm

.macro SIZE_CLASS_MID back, large
	cmp rdi, SIZE_CLASS_MAX
	ja \large
	lea rcx, [rdi + (1 << SIZE_MID_SHIFT) - 1]
	shr rcx, SIZE_MID_SHIFT
	lea rax, [rip + slub_class_mid]
	movzx ecx, byte ptr [rax + rcx]
	jmp \back
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
	jmp \slow
#if SLUB_STATE
.Lbad\@:
	mov rdi, rax
	jmp slub_report_popped_live
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
	mov esi, ecx
	mov rdx, r10
	jmp slub_free_full
.Lodd\@:
	jmp \slow
END \name
.endm

#endif
