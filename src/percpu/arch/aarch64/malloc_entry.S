/* SPDX-License-Identifier: MIT */
/* Entry points of the drop-in malloc on aarch64: malloc, free, operator new and delete. Part of the malloc
 * libraries only. Layer: L8; the fast path is that of fastpath.S. */
#include "percpu/arch/aarch64/fastpath_macros.h"

ALLOC_BY_SIZE malloc, slub_malloc_slow
ALLOC_BY_SIZE _Znwm, slub_new_slow
FREE_BY_ADDRESS free, slub_free_slow

/* One code serves all names of the same meaning. Sized and aligned forms of delete carry hints in later
 * arguments, which default mode ignores: the address says it all. */
.macro SAME_AS name, as
	.globl \name
	.type \name, %function
	.set \name, \as
.endm

SAME_AS _Znam, _Znwm
SAME_AS cfree, free
SAME_AS _ZdlPv, free
SAME_AS _ZdaPv, free
SAME_AS _ZdlPvm, free
SAME_AS _ZdaPvm, free
SAME_AS _ZdlPvSt11align_val_t, free
SAME_AS _ZdaPvSt11align_val_t, free
SAME_AS _ZdlPvmSt11align_val_t, free
SAME_AS _ZdaPvmSt11align_val_t, free
SAME_AS _ZdlPvRKSt9nothrow_t, free
SAME_AS _ZdaPvRKSt9nothrow_t, free
SAME_AS _ZdlPvSt11align_val_tRKSt9nothrow_t, free
SAME_AS _ZdaPvSt11align_val_tRKSt9nothrow_t, free
SAME_AS free_sized, free
SAME_AS free_aligned_sized, free

	.section .note.GNU-stack, "", %progbits
