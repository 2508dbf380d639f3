/* SPDX-License-Identifier: MIT */
/* Owns the table of known failures as data: made once from known_cases.def. */
#include "workloads/known_table.h"

#include <string.h>

static const struct {
    enum known_case_id id;
    struct known_figure figure;
} rows[] = {
#define KNOWN_CASE(id, number, name, body, cpus, help)
#define KNOWN_FIGURE(id, name, unit, rule, limit) \
    {KNOWN_##id, {name, KNOWN_##unit, KNOWN_##rule, limit}},
#include "workloads/known_cases.def"
#undef KNOWN_CASE
#undef KNOWN_FIGURE
};

static struct known_case cases[KNOWN_N_CASES] = {
#define KNOWN_CASE(id, number, name, body, cpus, help) {number, name, cpus, help, 0, {{0}}},
#define KNOWN_FIGURE(id, name, unit, rule, limit)
#include "workloads/known_cases.def"
#undef KNOWN_CASE
#undef KNOWN_FIGURE
};

/* The figures join their cases on first use. */
static void join_figures(void)
{
    if (cases[0].n_figures > 0)
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct known_case *c = &cases[rows[i].id];
        c->figures[c->n_figures++] = rows[i].figure;
    }
}

const struct known_case *known_case(enum known_case_id id)
{
    join_figures();
    return &cases[id];
}

enum known_case_id known_case_find(const char *name, size_t chars)
{
    for (unsigned i = 0; i < KNOWN_N_CASES; i++) {
        if (strlen(cases[i].name) == chars && memcmp(cases[i].name, name, chars) == 0)
            return (enum known_case_id)i;
    }
    return KNOWN_N_CASES;
}

const char *known_unit_name(enum known_unit unit)
{
    static const char *const names[] = {"bytes", "ns", "count", "per mille"};
    return names[unit];
}
