/* SPDX-License-Identifier: MIT */
/* In which order what the fast path reads without a lock is published, and in which it is read (region/layout.h).
 *
 * The first use and the first one in a forked child run with the trap flag set; after every instruction struct hot is
 * compared with what it was, and fences are counted. A thread that sees only a part of what follows then never joins
 * words that do not go together, because of the order, or is sent back to the start of its sequence by the fence. */
#include "testkit.h"

#if defined(__x86_64__) && defined(__GLIBC__) && SLUB_ASM
#include <linux/membarrier.h>
#include <slub/slub.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "cache/init.h"
#include "percpu/area.h"
#include "percpu/percpu.h"
#include "region/gmap.h"
#include "sections.h"

enum { MOST_CHANGES = 64 };

struct seen {
    uintptr_t heap_base;
    uint64_t n_granules;
    uintptr_t gmap;
    long cs_offset, id_offset;
    char *base;
    unsigned n_fences; /* before it */
};
static struct seen first, changes[MOST_CHANGES];
static volatile size_t n_changes;
static volatile unsigned n_fences;

static struct seen look(void)
{
    return (struct seen){atomic_load(&slub_hot.heap_base),
                         atomic_load(&slub_hot.n_granules),
                         (uintptr_t)atomic_load(&slub_hot.gmap),
                         atomic_load(&slub_hot.rseq_cs_offset),
                         atomic_load(&slub_hot.rseq_id_offset),
                         atomic_load(&slub_hot.percpu_base),
                         n_fences};
}

static unsigned n_different(const struct seen *a, const struct seen *b)
{
    return (a->heap_base != b->heap_base) + (a->n_granules != b->n_granules) + (a->gmap != b->gmap) +
           (a->cs_offset != b->cs_offset) + (a->id_offset != b->id_offset) + (a->base != b->base);
}

static void on_step(int sig, siginfo_t *si, void *context)
{
    const greg_t *reg = ((const ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *ip = (const uint8_t *)reg[REG_RIP];
    struct seen now = look();
    (void)sig;
    (void)si;
    if (n_different(&now, n_changes != 0 ? &changes[n_changes - 1] : &first) != 0 && n_changes < MOST_CHANGES)
        changes[n_changes++] = now;
    if (ip[0] == 0x0f && ip[1] == 0x05 && reg[REG_RAX] == SYS_membarrier &&
        reg[REG_RDI] == MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ)
        n_fences++;
}

static void step_through(void (*fn)(void))
{
    first = look();
    n_changes = 0;
    set_handler(on_step);
    set_trap_flag(true);
    fn();
    set_trap_flag(false);
}

static void first_use(void) { tk_check(init_ready(), "no memory"); }

static bool is_closed(char *area)
{
    for (unsigned id = 0; id < SLUB_MAX_CACHES; id++) {
        const struct slot *s = area_slot(area, id);
        if (slot_load(&s->so_pos) > slot_load(&s->so_begin) || slot_load(&s->so_pos) < slot_load(area_end(area, id)))
            return false;
    }
    return true;
}

static void check_first_use(void)
{
    const struct seen *last = &first, *id = NULL, *closed = NULL, *open = NULL;
    tk_check(first.heap_base == HOT_NO_HEAP && first.n_granules == 0 && is_closed(first.base),
             "not as it is linked");
    tk_check(first.cs_offset == __rseq_offset + (long)offsetof(struct rseq, rseq_cs),
             "the constructor leaves descriptors at %ld", first.cs_offset);
    for (size_t i = 0; i < n_changes; i++) {
        const struct seen *s = &changes[i];
        tk_check(n_different(last, s) == 1, "change %zu is of %u words", i, n_different(last, s));
        tk_check(s->cs_offset == first.cs_offset, "the place of descriptors changes");
        tk_check(last->heap_base == s->heap_base || (last->heap_base == HOT_NO_HEAP && s->gmap != 0),
                 "a heap without map, or another one");
        tk_check(s->n_granules == 0 || (s->heap_base != HOT_NO_HEAP && s->gmap != 0), "granules without a heap");
        if (s->id_offset != last->id_offset) {
            tk_check(id == NULL, "numbers are read from a third place");
            id = s;
        }
        if (s->base != last->base) {
            tk_check(open == NULL, "a fourth base");
            *(closed == NULL ? &closed : &open) = s;
        }
        last = s;
    }
    if (!tk_check(closed != NULL && id != NULL && open != NULL, "%zu changes, too few", (size_t)n_changes))
        return;
    tk_check(closed < id && id < open, "closed areas, numbers, open areas come in another order");
    tk_check(closed->n_fences < id->n_fences, "no fence between closed areas and numbers");
    tk_check(id->n_fences < open->n_fences, "no fence between numbers and open areas");
    for (unsigned cpu = 0; cpu < percpu_area_bytes() >> (PERCPU_SHIFT + 1); cpu++)
        tk_check(is_closed(closed->base + ((size_t)cpu << PERCPU_SHIFT)), "closed area %u is open", cpu);
}

/* The first use in a child, up to where it is out of reach of threads that have not seen it. */
static void in_child(void *open)
{
    struct seen parent = *(struct seen *)open;
    struct seen child = look();
    tk_check(n_different(&parent, &child) == 1 && child.base != parent.base && is_closed(child.base),
             "a forked child begins with more than other areas");
    step_through(init_pass_gate);
    tk_check(n_changes == 1 && n_different(&first, &changes[0]) == 1 && changes[0].base == parent.base,
             "areas are not opened by one store: %zu", (size_t)n_changes);
    slub_free(slub_alloc(96, 0));
}

/* How often, and where last, a field is referred to relative to the next instruction. */
static unsigned find(const struct descriptor *d, const void *field, uint64_t *where)
{
    unsigned n = 0;
    for (uint64_t at = d->start; at + 4 <= d->start + d->length; at++) {
        int32_t rel;
        memcpy(&rel, (const void *)(uintptr_t)at, 4);
        if (at + 4 + (uint64_t)rel == (uint64_t)(uintptr_t)field) {
            *where = at;
            n++;
        }
    }
    return n;
}

static void check_section(const struct descriptor *d)
{
    uint64_t id = 0, base = 0, cs = 0;
    struct descriptor before = {.start = d->start - 24, .length = 24};
    tk_check(find(d, &slub_hot.rseq_id_offset, &id) == 1 && find(d, &slub_hot.percpu_base, &base) == 1 && id < base,
             "section %#llx: number and area are not read in it, once, in this order", (unsigned long long)d->start);
    tk_check(find(d, &slub_hot.rseq_cs_offset, &cs) == 0 && find(&before, &slub_hot.rseq_cs_offset, &cs) == 1,
             "section %#llx: the place of descriptors is not read before it", (unsigned long long)d->start);
}

int main(int argc, char **argv)
{
    tk_init("rseq", "order of publication", argc, argv);
    step_through(first_use);
    if (percpu_backend() != BACKEND_RSEQ)
        tk_skip("restartable sequences are not in use here (%s)", percpu_backend_name());
    check_first_use();
    slub_free(slub_alloc(96, 0));
    sections_find();
    tk_check(n_sections >= 7 && n_sections < MOST_SECTIONS, "%zu sections", n_sections);
    for (size_t i = 0; i < n_sections; i++)
        check_section(sections[i]);
    struct seen now = look();
    tk_child("fork", in_child, &now, 20);
    tk_note("%zu changes, %zu sections", (size_t)n_changes, n_sections);
    return tk_finish();
}
#else
int main(int argc, char **argv)
{
    tk_init("rseq", "order of publication", argc, argv);
    tk_skip("written for restartable sequences of x86-64 under glibc");
}
#endif
