/* SPDX-License-Identifier: MIT */
/* How a run of slab_test is shown: what the printers of its two styles share. */
#ifndef SLUB_LAB_SLAB_VIEW_H
#define SLUB_LAB_SLAB_VIEW_H

#include "runner/slab_run.h"
#include "stats/summary.h"

#include <stdbool.h>
#include <stdio.h>

struct slab_view {
    const struct lab_run *run;
    enum lab_stat stat; /* the one that a cell shows */
    bool all_stats;     /* tables: every statistic, in cycles and ns, a row per allocator */
    bool in_ns;         /* cells in nanoseconds, not in ticks */
    double *scratch;    /* one series */
};

/* Room for the series; 0 or -ENOMEM. */
int slab_view_init(struct slab_view *v, const struct lab_run *run);
void slab_view_release(struct slab_view *v);

/* Summary of one series in ticks per operation; lane -1: the mean of the lanes, repeat by repeat.
 */
void slab_view_summary(const struct slab_view *v, size_t case_index, size_t allocator_index,
                       size_t size_index, int lane, unsigned column, struct lab_summary *out);

/* The cell of a table: the statistic of the view, in its unit. */
double slab_view_cell(const struct slab_view *v, size_t case_index, size_t allocator_index,
                      size_t size_index, unsigned column);

/* Medians over rounds, in bytes. */
struct slab_memory {
    double start;
    double end;
    double idle;
    double peak;
    double idle_s;
};
void slab_view_memory(const struct slab_view *v, size_t case_index, size_t allocator_index,
                      struct slab_memory *out);

/* Growth of a counter over all rounds of one size; false when nobody counts it. */
bool slab_view_counter(const struct slab_view *v, size_t case_index, size_t allocator_index,
                       size_t size_index, enum slub_stat stat, uint64_t *sum);

/* Calls in the measured part over all rounds; the same number of each kind. */
uint64_t slab_view_calls(const struct slab_view *v, size_t case_index, size_t allocator_index,
                         size_t size_index);

/* "cycles", or "ticks" where the counter is not the CPU's cycle counter. */
const char *slab_view_tick_name(void);

/* slab_kernel_style.c: the lines that the kernel module prints, for one allocator. */
void slab_print_kernel_style(const struct slab_view *v, size_t allocator_index, FILE *out);

/* slab_tables.c: what was run, and a table per test with a column per allocator. */
void slab_print_header(const struct slab_view *v, FILE *out);
void slab_print_tables(const struct slab_view *v, FILE *out);

#endif
