/* SPDX-License-Identifier: MIT */
/* Finding the rseq area that libc registered; see rseq.h. Layer: L6.
 * Facts: glibc >= 2.35 registers one per thread and exports where (__rseq_offset, __rseq_size); it reports a
 * size of 20 even where the kernel fills in mm_cid at byte 24, so the kernel's own AT_RSEQ_FEATURE_SIZE
 * decides that. An unregistered thread reads mm_cid 0, so the id never tells whether rseq works. */
#include "percpu/rseq.h"

#include "os/os.h"
#include "percpu/layout.h"
#include "region/gmap.h"

enum { RSEQ_CPU_ID = 4, RSEQ_CS = 8, RSEQ_MM_CID = 24, RSEQ_MM_CID_END = 28 };

#if SLUB_ASM && !defined(__GLIBC__)
#error "the assembly borrows words of glibc's thread control block: configure with -DSLUB_ASM=OFF"
#endif

#if SLUB_ASM
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

static char *thread_pointer(void)
{
#if defined(__x86_64__)
    char *tp;
    __asm__("mov %%fs:0, %0" : "=r"(tp));
    return tp;
#else
    return __builtin_thread_pointer();
#endif
}

/* Where the fast path writes its descriptor when nobody will read it. */
static _Thread_local char no_rseq[2 * sizeof(void *)] SLUB_ALIGNED(8);

static bool libc_has_rseq(void) { return &__rseq_size != NULL && __rseq_size != 0; }

static void set_offset(_Atomic long *field, long offset)
{
    atomic_store_explicit(field, offset, memory_order_relaxed);
}

static long offset_of(const _Atomic long *field) { return atomic_load_explicit(field, memory_order_relaxed); }

void percpu_rseq_prepare(void)
{
    if (libc_has_rseq())
        set_offset(&slub_hot.rseq_cs_offset, __rseq_offset + RSEQ_CS);
}

/* In any order, because the area that is numbered 0 in either place is closed for ever. */
void percpu_rseq_disable(void)
{
    long offset = no_rseq - thread_pointer();
    set_offset(&slub_hot.rseq_cs_offset, offset);
    set_offset(&slub_hot.rseq_id_offset, offset + (long)sizeof(void *));
}

void percpu_rseq_set_base(char *base) { atomic_store_explicit(&slub_hot.percpu_base, base, memory_order_release); }

bool percpu_rseq_init(bool by_cid, char *closed, char *areas, const char **index_name)
{
    if (!libc_has_rseq() || os_fence_register() != 0 ||
        *(volatile int32_t *)(void *)(thread_pointer() + __rseq_offset + RSEQ_CPU_ID) < 0)
        return false;
    bool has_cid = os_rseq_feature_size() >= RSEQ_MM_CID_END;
    long old_id_offset = offset_of(&slub_hot.rseq_id_offset);
    percpu_rseq_set_base(closed);
    if (os_fence() != 0)
        goto fail;
    set_offset(&slub_hot.rseq_id_offset, __rseq_offset + (by_cid && has_cid ? RSEQ_MM_CID : RSEQ_CPU_ID));
    if (os_fence() != 0)
        goto fail_id;
    percpu_rseq_set_base(areas);
    *index_name = by_cid && has_cid ? "mm_cid" : "cpu_id";
    return true;
fail_id:
    set_offset(&slub_hot.rseq_id_offset, old_id_offset);
fail:
    return false; /* with the base at the closed areas: a thread may have a number of them at hand */
}

unsigned percpu_rseq_where(void)
{
    return *(volatile uint32_t *)(void *)(thread_pointer() + offset_of(&slub_hot.rseq_id_offset));
}

unsigned percpu_rseq_cpu(void)
{
    return *(volatile uint32_t *)(void *)(thread_pointer() + __rseq_offset + RSEQ_CPU_ID);
}
#else
void percpu_rseq_prepare(void) {}
void percpu_rseq_disable(void) {}
void percpu_rseq_set_base(char *base) { (void)base; }

bool percpu_rseq_init(bool by_cid, char *closed, char *areas, const char **index_name)
{
    (void)by_cid;
    (void)closed;
    (void)areas;
    (void)index_name;
    return false;
}

unsigned percpu_rseq_where(void) { return 0; }
unsigned percpu_rseq_cpu(void) { return 0; }
size_t percpu_rseq_push_bulk(unsigned id, const struct entry *e, size_t n) { return (void)id, (void)e, (void)n, 0; }
size_t percpu_rseq_pop_bulk(unsigned id, struct entry *e, size_t n) { return (void)id, (void)e, (void)n, 0; }
int percpu_rseq_move_slot(unsigned cpu, unsigned id, unsigned to) { return (void)cpu, (void)id, (void)to, 0; }
#endif
