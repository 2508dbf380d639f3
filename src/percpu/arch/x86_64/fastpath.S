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
	jmp slub_free_full
.Lcache_free_odd:
	mov rsi, rdi
	mov rdi, r11
	jmp slub_cache_free_slow
END slub_cache_free

/* size_t percpu_rseq_push_bulk(unsigned id, void *const *objs, size_t n): see percpu/rseq.h. */
ENTRY percpu_rseq_push_bulk
	mov ecx, edi
.Lpush_bulk:
	mov r8, [rip + slub_hot + HOT_RSEQ_CS_OFFSET]
	mov r9, [rip + slub_hot + HOT_RSEQ_ID_OFFSET]
	lea rax, [rip + .Lpush_bulk_cs]
	mov fs:[r8], rax
.Lpush_bulk_start:
	mov edi, fs:[r9]
	shl rdi, PERCPU_SHIFT
	add rdi, [rip + slub_hot + HOT_PERCPU_BASE]
	movzx r10d, word ptr [rdi + rcx*8 + SLOT_POS]
	movzx eax, word ptr [rdi + rcx*8 + SLOT_END]
	sub eax, r10d
	jbe .Lpush_bulk_none
	cmp rax, rdx
	cmova rax, rdx			/* rax = how many */
	lea r9, [rdi + r10*8]		/* where they go */
	xor r11d, r11d
.Lpush_bulk_copy:
	cmp r11, rax
	jae .Lpush_bulk_copied
	mov r8, [rsi + r11*8]
	mov [r9 + r11*8], r8
	inc r11
	jmp .Lpush_bulk_copy
.Lpush_bulk_copied:
	add r10d, eax
	mov word ptr [rdi + rcx*8 + SLOT_POS], r10w
.Lpush_bulk_end:
	ret
.Lpush_bulk_none:
	xor eax, eax
	ret
	DESCRIPTOR .Lpush_bulk_cs, .Lpush_bulk_start, .Lpush_bulk_end, .Lpush_bulk_abort
	ABORT .Lpush_bulk_abort, .Lpush_bulk
END percpu_rseq_push_bulk

/* size_t percpu_rseq_pop_bulk(unsigned id, void **objs, size_t n): see percpu/rseq.h. */
ENTRY percpu_rseq_pop_bulk
	mov ecx, edi
.Lpop_bulk:
	mov r8, [rip + slub_hot + HOT_RSEQ_CS_OFFSET]
	mov r9, [rip + slub_hot + HOT_RSEQ_ID_OFFSET]
	lea rax, [rip + .Lpop_bulk_cs]
	mov fs:[r8], rax
.Lpop_bulk_start:
	mov edi, fs:[r9]
	shl rdi, PERCPU_SHIFT
	add rdi, [rip + slub_hot + HOT_PERCPU_BASE]
	movzx r10d, word ptr [rdi + rcx*8 + SLOT_POS]
	movzx r11d, word ptr [rdi + rcx*8 + SLOT_BEGIN]
	mov eax, r10d
	sub eax, r11d
	jbe .Lpop_bulk_none
	cmp rax, rdx
	cmova rax, rdx			/* rax = how many */
	sub r10d, eax			/* the new top */
	lea r9, [rdi + r10*8]		/* where they are */
	xor r11d, r11d
.Lpop_bulk_copy:
	cmp r11, rax
	jae .Lpop_bulk_copied
	mov r8, [r9 + r11*8]
	mov [rsi + r11*8], r8
	inc r11
	jmp .Lpop_bulk_copy
.Lpop_bulk_copied:
	mov word ptr [rdi + rcx*8 + SLOT_POS], r10w
.Lpop_bulk_end:
	ret
.Lpop_bulk_none:
	xor eax, eax
	ret
	DESCRIPTOR .Lpop_bulk_cs, .Lpop_bulk_start, .Lpop_bulk_end, .Lpop_bulk_abort
	ABORT .Lpop_bulk_abort, .Lpop_bulk
END percpu_rseq_pop_bulk

/* int percpu_rseq_move_slot(unsigned cpu, unsigned id, uint32_t to, uint64_t slot): see percpu/rseq.h. */
ENTRY percpu_rseq_move_slot
	mov esi, esi
	mov edx, edx
.Lmove:
	mov r8, [rip + slub_hot + HOT_RSEQ_CS_OFFSET]
	mov r9, [rip + slub_hot + HOT_RSEQ_ID_OFFSET]
	lea rax, [rip + .Lmove_cs]
	mov fs:[r8], rax
.Lmove_start:
	mov eax, fs:[r9]
	cmp eax, edi
	jne .Lmove_none
	shl rax, PERCPU_SHIFT
	add rax, [rip + slub_hot + HOT_PERCPU_BASE]
	movzx r10d, word ptr [rax + rsi*8 + SLOT_POS]
	movzx r11d, word ptr [rax + rsi*8 + SLOT_BEGIN]
	sub r10d, r11d			/* objects to move */
	jb .Lmove_none
	lea r11, [rax + r11*8]		/* from here */
	lea r9, [rax + rdx*8]		/* to there */
	xor r8d, r8d
.Lmove_copy:
	cmp r8, r10
	jae .Lmove_copied
	movq xmm0, [r11 + r8*8]
	movq [r9 + r8*8], xmm0
	inc r8
	jmp .Lmove_copy
.Lmove_copied:
	add r10d, edx
	or r10, rcx
	mov [rax + rsi*8], r10
.Lmove_end:
	mov eax, 1
	ret
.Lmove_none:
	xor eax, eax
	ret
	DESCRIPTOR .Lmove_cs, .Lmove_start, .Lmove_end, .Lmove_abort
	ABORT .Lmove_abort, .Lmove
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
	.quad 0, 0, 0
	.quad slub_closed_area
	.quad 0x38
	.quad 0x40
	.quad 0, 0
	.size slub_hot, . - slub_hot

	.section .note.GNU-stack, "", @progbits
