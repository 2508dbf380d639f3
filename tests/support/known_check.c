/* SPDX-License-Identifier: MIT */
/* Owns the wide judgement of the cases of known_cases.def: what a test may say of a clock. */
#include "known_check.h"

#include "known_table.h"
#include "testkit.h"

#include <sys/mman.h>

#define WIDER 20

struct part {
    enum known_case_id id;
    struct known_form form;
    const char *reason;
    uint64_t figures[KNOWN_MOST_FIGURES];
};

static void run(void *arg)
{
    struct part *p = arg;

    p->reason = known_bodies[p->id](&p->form, p->figures);
    tk_check(p->reason == NULL, "%s: %s", known_case(p->id)->name, p->reason);
}

static void judge(const char *name, const struct known_figure *f, uint64_t value)
{
    uint64_t limit = f->limit;

    if (f->rule == KNOWN_AT_MOST_PEER) /* a matter of the machine's load, but for who measures both at once */
        return;
    if (f->rule == KNOWN_AT_LEAST) {
        if (f->unit == KNOWN_PER_MILLE)
            limit /= WIDER;
        tk_check(value >= limit, "%s: %s %llu, at least %llu %s", name, f->name,
                 (unsigned long long)value, (unsigned long long)limit, known_unit_name(f->unit));
        return;
    }
    if (f->unit == KNOWN_NS)
        limit *= WIDER;
    tk_check(value <= limit, "%s: %s %llu, at most %llu %s", name, f->name,
             (unsigned long long)value, (unsigned long long)limit, known_unit_name(f->unit));
}

void tk_known(enum known_case_id id, double limit_s)
{
    const struct known_case *c = known_case(id);
    struct part *p =
        mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (!tk_check(p != MAP_FAILED, "no memory that processes share"))
        return;
    *p = (struct part){.id = id, .form = {tk_full(), tk_seconds(0, 0), tk_seed()}};
    if (tk_child(c->name, run, p, limit_s) && p->reason == NULL) {
        for (size_t i = 0; i < c->n_figures; i++) {
            tk_note("%s: %s %llu %s", c->name, c->figures[i].name,
                    (unsigned long long)p->figures[i], known_unit_name(c->figures[i].unit));
            judge(c->name, &c->figures[i], p->figures[i]);
        }
    }
    munmap(p, sizeof *p);
}
