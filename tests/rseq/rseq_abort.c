/* SPDX-License-Identifier: MIT */
/* Abort at every instruction of every critical section.
 *
 * A debugger's single step cannot do it: every stop aborts, so nobody gets beyond the first instruction. So:
 *   1. find the sections by their descriptors;
 *   2. learn where their instructions begin: take the thread's rseq area from the kernel, so that nothing aborts,
 *      and run a script with the trap flag set;
 *   3. for each of them put a breakpoint there and run the script. The kernel aborts the section when it delivers
 *      the signal, which the handler proves by the address it will return to. While the section is aborted the
 *      handler takes objects from the slot, or puts one back, as another thread on the same CPU might. After a
 *      few aborts the breakpoint goes away, so that the script ends.
 * Afterwards no object is lost, and none was handed out twice. */
#include "testkit.h"

#if defined(__x86_64__) && defined(__GLIBC__) && SLUB_ASM
#include <signal.h>
#include <slub/slub.h>
#include <slub/stats.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "cache/init.h"
#include "cache/registry.h"
#include "percpu/percpu.h"
#include "percpu/rseq.h"
#include "sections.h"
#include "stamp.h"

enum { MOST_POINTS = 1024, ABORTS = 5, BREAKPOINT = 0xcc, STASH = 64 };

static struct point {
    uint8_t *at;
    const struct descriptor *section;
} points[MOST_POINTS];
static volatile size_t n_points;

static const struct descriptor *section_of(uint64_t ip)
{
    for (size_t i = 0; i < n_sections; i++)
        if (ip - sections[i]->start < sections[i]->length)
            return sections[i];
    return NULL;
}

/* ---- the script ----------------------------------------------------------------------------------- */

enum { HELD = 300 };
static struct slub_cache *cache;
static unsigned run_number;

/* Pops and pushes by every entry point, bulk moves of many lengths, and a slot that grows: each run has a cache
 * of its own, whose slots begin without an array. */
static void script(void)
{
    static void *held[HELD];
    size_t n = 0;
    run_number++;
    for (size_t i = 0; i < 60; i++)
        held[n++] = slub_cache_alloc(cache, 0);
    for (size_t i = 0; i < 4; i++)
        held[n++] = slub_alloc(cache->ca_object_bytes, 0);
    n += slub_cache_alloc_bulk(cache, 0, 37, held + n);
    for (size_t i = 0; i < n; i++)
        if (held[i] == NULL) {
            tk_check(false, "out of memory");
            return;
        }
    for (size_t i = 0; i < n; i++)
        stamp_fill(held[i], cache->ca_object_bytes, run_number * 1000 + i);
    for (size_t i = 0; i < n; i++)
        tk_check(stamp_first_bad(held[i], cache->ca_object_bytes, run_number * 1000 + i) == cache->ca_object_bytes,
                 "object %zu of run %u has two owners", i, run_number);
    for (size_t i = 0; i < 30; i++)
        slub_cache_free(cache, held[i]);
    for (size_t i = 30; i < 64; i++)
        slub_free(held[i]);
    slub_cache_free_bulk(cache, n - 64, held + 64);
    for (size_t k = 1; k <= 19; k += 3) {
        size_t got = slub_cache_alloc_bulk(cache, 0, k, held);
        slub_cache_free_bulk(cache, got, held);
    }
    n = slub_cache_alloc_bulk(cache, 0, 250, held); /* no miss, but then many: the slot grows while it is full */
    for (size_t i = 0; i < n; i++)
        slub_cache_free(cache, held[i]);
}

static void begin_cache(void)
{
    cache = slub_cache_create("abort", 96, NULL, 0);
    if (cache == NULL)
        abort();
}

static void end_cache(const char *what, uint64_t at)
{
    struct pool_totals t;
    pool_totals(&cache->ca_pool, &t);
    uint64_t cached = cache_n_cached(cache);
    tk_check(t.n_out == cached, "%s at %#llx: %llu objects are out, %llu at hand", what, (unsigned long long)at,
             (unsigned long long)t.n_out, (unsigned long long)cached);
    tk_check(slub_cache_destroy(cache) == 0, "%s at %#llx: objects were lost", what, (unsigned long long)at);
}

/* ---- 2. the instructions -------------------------------------------------------------------------- */

static void note_step(int sig, siginfo_t *si, void *context)
{
    ucontext_t *uc = context;
    uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
    const struct descriptor *s = section_of(ip);
    (void)sig;
    (void)si;
    if (s == NULL)
        return;
    for (size_t i = 0; i < n_points; i++)
        if (points[i].at == (uint8_t *)ip)
            return;
    if (n_points < MOST_POINTS) {
        points[n_points].at = (uint8_t *)ip;
        points[n_points].section = s;
        n_points++;
    }
}

static struct rseq *rseq_area(void)
{
    return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/* The length that libc registered: the kernel wants it again. */
static uint32_t registered_bytes;

static bool leave_rseq(void)
{
    static const uint32_t lengths[] = {32, 28, 33, 40, 48, 64};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (syscall(SYS_rseq, rseq_area(), lengths[i], RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0) {
            registered_bytes = lengths[i];
            memset(rseq_area(), 0, 28); /* CPU 0, id 0: nobody else runs */
            return true;
        }
    return false;
}

static bool enter_rseq(void)
{
    return syscall(SYS_rseq, rseq_area(), registered_bytes, 0, RSEQ_SIG) == 0;
}

static int by_place(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Every instruction of every section was seen: they follow each other from the start to the commit. */
static void check_points(void)
{
    qsort(points, n_points, sizeof *points, by_place);
    for (size_t s = 0; s < n_sections; s++) {
        uint64_t at = sections[s]->start, end = at + sections[s]->length, last = 0;
        size_t n = 0;
        for (size_t i = 0; i < n_points; i++)
            if (points[i].section == sections[s]) {
                uint64_t ip = (uint64_t)(uintptr_t)points[i].at;
                tk_check(n != 0 || ip == at, "section %zu: its first instruction did not run", s);
                tk_check(n == 0 || ip - last <= 9, "section %zu: a gap at %#llx", s, (unsigned long long)last);
                last = ip;
                n++;
            }
        tk_check(n >= 6 && end - last <= 9, "section %zu (%#llx): %zu instructions seen", s,
                 (unsigned long long)at, n);
    }
}

/* ---- 3. the aborts -------------------------------------------------------------------------------- */

static struct {
    struct point *p;
    uint8_t byte; /* what the breakpoint replaced */
    unsigned n_aborts;
    bool went_on; /* not aborted, although the kernel should have */
} now;

static struct entry stash[STASH];
static size_t n_stash;

/* What another thread on this CPU might do while this one is preempted. */
static void interfere(void)
{
    unsigned id = cache->ca_pool.po_id;
    switch (now.n_aborts % 4) {
    case 0:
    case 1:
        n_stash += percpu_rseq_pop_bulk(id, stash + n_stash, now.n_aborts % 2 + 1);
        break;
    case 2:
        if (n_stash != 0)
            n_stash -= percpu_rseq_push_bulk(id, stash + n_stash - 1, 1);
        break;
    default:
        break;
    }
}

static void on_breakpoint(int sig, siginfo_t *si, void *context)
{
    ucontext_t *uc = context;
    greg_t *ip = &uc->uc_mcontext.gregs[REG_RIP];
    (void)sig;
    (void)si;
    *now.p->at = now.byte;
    if ((uint64_t)*ip != now.p->section->abort) {
        now.went_on = true;
        *ip = (greg_t)(uintptr_t)now.p->at;
        return;
    }
    interfere();
    if (++now.n_aborts < ABORTS)
        *now.p->at = BREAKPOINT;
}

static void abort_at(struct point *p)
{
    begin_cache();
    now.p = p;
    now.byte = *p->at;
    now.n_aborts = 0;
    now.went_on = false;
    n_stash = 0;
    *p->at = BREAKPOINT;
    script();
    *p->at = now.byte;
    cache_put_bulk(cache, stash, n_stash);
    tk_check(!now.went_on, "%p: a signal did not abort the section", (void *)p->at);
    tk_check(now.n_aborts == ABORTS, "%p: %u aborts", (void *)p->at, now.n_aborts);
    end_cache("aborts", (uint64_t)(uintptr_t)p->at);
}

static bool make_writable(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < n_sections; i++) {
        uintptr_t from = sections[i]->start & ~(page - 1);
        uintptr_t to = (sections[i]->start + sections[i]->length + page - 1) & ~(page - 1);
        if (mprotect((void *)from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    int cpu;
    tk_init("rseq", "abort at every instruction", argc, argv);
    slub_free(slub_alloc(96, 0));
    if (percpu_backend() != BACKEND_RSEQ)
        tk_skip("restartable sequences are not in use here (%s)", percpu_backend_name());
    if (tk_cpus(&cpu, 1) == 1)
        tk_pin(cpu);
    sections_find();
    tk_check(n_sections >= 7 && n_sections < MOST_SECTIONS, "%zu sections", n_sections);
    if (!make_writable())
        tk_skip("the system does not let code be written to");

    if (!leave_rseq())
        tk_skip("the kernel does not take the rseq area back");
    begin_cache();
    set_handler(note_step);
    set_trap_flag(true);
    script();
    set_trap_flag(false);
    end_cache("steps", 0);
    if (!tk_check(enter_rseq(), "the rseq area is gone"))
        return tk_finish();
    check_points();

    set_handler(on_breakpoint);
    for (size_t i = 0; i < n_points && !tk_failed(); i++)
        abort_at(&points[i]);
    tk_note("%zu sections, %zu instructions, %d aborts each", n_sections, (size_t)n_points, ABORTS);
    return tk_finish();
}
#else
int main(int argc, char **argv)
{
    tk_init("rseq", "abort at every instruction", argc, argv);
    tk_skip("written for restartable sequences of x86-64 under glibc");
}
#endif
