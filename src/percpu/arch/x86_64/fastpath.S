/* SPDX-License-Identifier: MIT */
/* Entry points of libslub on x86-64, and the bulk moves of the slow path as restartable sequences.
 * Layer: L6; contract in percpu/fastpath.h and percpu/rseq.h. */
#include "percpu/arch/x86_64/fastpath_macros.h"

/* void *slub_alloc(size_t size, unsigned flags) */
ENTRY slub_alloc
	test esi, esi
	jnz .Lalloc_slow
	SIZE_CLASS .Lalloc_mid
.Lalloc_known:
	POP .Lalloc_empty
	MARK_LIVE .Lalloc_bad
	ret
.Lalloc_mid:
	SIZE_CLASS_MID .Lalloc_known, .Lalloc_empty
.Lalloc_empty:
	xor esi, esi
.Lalloc_slow:
	jmp slub_alloc_slow
#if SLUB_STATE
.Lalloc_bad:
	mov rdi, rax
	jmp slub_report_popped_live
#endif
END slub_alloc

FREE_BY_ADDRESS slub_free, slub_free_slow

/* void *slub_cache_alloc(struct slub_cache *cache, unsigned flags) */
ENTRY slub_cache_alloc
	test esi, esi
	jnz .Lcache_slow
	mov ecx, [rdi + CACHE_ID]
	POP .Lcache_empty
	MARK_LIVE .Lcache_bad
	ret
.Lcache_empty:
	xor esi, esi
.Lcache_slow:
	jmp slub_cache_alloc_slow
#if SLUB_STATE
.Lcache_bad:
	mov rdi, rax
	jmp slub_report_popped_live
#endif
END slub_cache_alloc

/* void slub_cache_free(struct slub_cache *cache, void *p): the id in the address map must be the cache's
 * before anything is marked, so this does not use FIND_AND_MARK_FREE as it stands. */
ENTRY slub_cache_free
	mov r11, rdi
	mov rdi, rsi
	mov rax, rdi
	sub rax, [rip + slub_hot + HOT_HEAP_BASE]
	shr rax, SLUB_GRANULE_SHIFT
	cmp rax, [rip + slub_hot + HOT_N_GRANULES]
	jae .Lcache_free_odd
	mov r9, [rip + slub_hot + HOT_GMAP]
	movzx eax, word ptr [r9 + rax*8]
	cmp eax, [r11 + CACHE_ID]
	jne .Lcache_free_odd
	FIND_AND_MARK_FREE .Lcache_free_odd
	PUSH .Lcache_free_full
	ret
.Lcache_free_full:
	mov esi, ecx
	mov rdx, r10
	jmp slub_free_full
.Lcache_free_odd:
	mov rsi, rdi
	mov rdi, r11
	jmp slub_cache_free_slow
END slub_cache_free

/* Copy \n words (at least one entry) from [\from] to [\to], eight at a time while there are eight. Clobbers r11, r8,
 * \n is kept. */
.macro COPY from, to, n
	xor r11d, r11d
	lea r8, [\n - 8]
	cmp \n, 8
	jb .Lcopy_one\@
.Lcopy\@:
	movups xmm0, [\from + r11*8]
	movups xmm1, [\from + r11*8 + 16]
	movups xmm2, [\from + r11*8 + 32]
	movups xmm3, [\from + r11*8 + 48]
	movups [\to + r11*8], xmm0
	movups [\to + r11*8 + 16], xmm1
	movups [\to + r11*8 + 32], xmm2
	movups [\to + r11*8 + 48], xmm3
	add r11, 8
	cmp r11, r8
	jbe .Lcopy\@
	cmp r11, \n
	jae .Lcopy_done\@
.Lcopy_one\@:
#if ENTRY_WORDS == 2
	movups xmm0, [\from + r11*8]
	movups [\to + r11*8], xmm0
#else
	movq xmm0, [\from + r11*8]
	movq [\to + r11*8], xmm0
#endif
	add r11, ENTRY_WORDS
	cmp r11, \n
	jb .Lcopy_one\@
.Lcopy_done\@:
.endm

/* From a number of entries to one of words, and back. */
.macro WORDS n
	shl \n, ENTRY_WORDS - 1
.endm
.macro ENTRIES n
	shr \n, ENTRY_WORDS - 1
.endm

/* Begin a section: r9 = where the number of the area is, read inside (region/layout.h). Clobbers rax, r8. */
.macro BEGIN name
.L\name\()_restart:
	mov r8, [rip + slub_hot + HOT_RSEQ_CS_OFFSET]
	lea rax, [rip + .L\name\()_cs]
	mov fs:[r8], rax
.L\name\()_start:
	mov r9, [rip + slub_hot + HOT_RSEQ_ID_OFFSET]
.endm

.macro FINISH name
	DESCRIPTOR .L\name\()_cs, .L\name\()_start, .L\name\()_end, .L\name\()_abort
	ABORT .L\name\()_abort, .L\name\()_restart
.endm

/* size_t percpu_rseq_push_bulk(unsigned id, const struct entry *e, size_t n): see percpu/rseq.h. */
ENTRY percpu_rseq_push_bulk
	mov ecx, edi
	WORDS rdx
	BEGIN push_bulk
	mov edi, fs:[r9]
	shl rdi, PERCPU_SHIFT
	add rdi, [rip + slub_hot + HOT_PERCPU_BASE]
	mov r10d, [rdi + rcx*8 + SLOT_POS]
	mov eax, [rdi + rcx*4 + PERCPU_ENDS]
	sub eax, r10d
	jbe .Lpush_bulk_none
	cmp rax, rdx
	cmova rax, rdx			/* rax = how many words */
	lea r9, [rdi + r10*8]		/* where they go */
	COPY rsi, r9, rax
	add r10d, eax
	mov [rdi + rcx*8 + SLOT_POS], r10d
.Lpush_bulk_end:
	ENTRIES eax
	ret
.Lpush_bulk_none:
	xor eax, eax
	ret
	FINISH push_bulk
END percpu_rseq_push_bulk

/* size_t percpu_rseq_pop_bulk(unsigned id, struct entry *e, size_t n): see percpu/rseq.h. */
ENTRY percpu_rseq_pop_bulk
	mov ecx, edi
	WORDS rdx
	BEGIN pop_bulk
	mov edi, fs:[r9]
	shl rdi, PERCPU_SHIFT
	add rdi, [rip + slub_hot + HOT_PERCPU_BASE]
	mov r10d, [rdi + rcx*8 + SLOT_POS]
	mov eax, r10d
	sub eax, [rdi + rcx*8 + SLOT_BEGIN]
	jbe .Lpop_bulk_none
	cmp rax, rdx
	cmova rax, rdx			/* rax = how many words */
	sub r10d, eax			/* the new top */
	lea r9, [rdi + r10*8]		/* where they are */
	COPY r9, rsi, rax
	mov [rdi + rcx*8 + SLOT_POS], r10d
.Lpop_bulk_end:
	ENTRIES eax
	ret
.Lpop_bulk_none:
	xor eax, eax
	ret
	FINISH pop_bulk
END percpu_rseq_pop_bulk

/* int percpu_rseq_move_slot(unsigned cpu, unsigned id, unsigned to): see percpu/rseq.h. */
ENTRY percpu_rseq_move_slot
	mov ecx, edx			/* the new begin */
	mov edx, esi			/* id */
	BEGIN move_slot
	mov esi, fs:[r9]
	cmp esi, edi
	jne .Lmove_slot_none
	shl rsi, PERCPU_SHIFT
	add rsi, [rip + slub_hot + HOT_PERCPU_BASE]
	mov eax, [rsi + rdx*8 + SLOT_POS]
	mov r8d, [rsi + rdx*8 + SLOT_BEGIN]
	sub eax, r8d			/* words to move */
	jb .Lmove_slot_none
	je .Lmove_slot_copied
	lea r10, [rsi + r8*8]		/* from here */
	lea r9, [rsi + rcx*8]		/* to there */
	COPY r10, r9, rax
.Lmove_slot_copied:
	add rax, rcx			/* the new pos */
	mov r8, rcx			/* rcx stays, for a restart */
	shl r8, 32
	or rax, r8			/* with the new begin */
	mov [rsi + rdx*8], rax
.Lmove_slot_end:
	mov eax, 1
	ret
.Lmove_slot_none:
	xor eax, eax
	ret
	FINISH move_slot
END percpu_rseq_move_slot

/* What the fast path reads, as it must be before the first slow path: an area of closed slots, and a place for
 * descriptors that hurts nobody. No relocation can name thread-local storage of our own here, so it is the two
 * words of glibc's thread control block that have been unused since 2012 (unused_vgetcpu_cache, at 0x38). */
	.data
	.globl slub_hot
	.hidden slub_hot
	.type slub_hot, @object
	.balign 64
slub_hot:
	.quad HOT_NO_HEAP, 0, 0
	.quad 0x38
	.quad 0x40
	.quad slub_closed_area
	.quad 0, 0
	.size slub_hot, . - slub_hot

	.section .note.GNU-stack, "", @progbits
