/* SPDX-License-Identifier: MIT */
/* Owns the step from the samples of a run to the numbers of a table. */
#include "report/slab_view.h"

#include "workloads/ticks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int slab_view_init(struct slab_view *v, const struct lab_run *run)
{
    const struct lab_config *c = run->config;
    const size_t series = c->n_rounds * c->n_repeats;

    memset(v, 0, sizeof(*v));
    v->run = run;
    v->scratch = calloc(series == 0 ? 1 : series, sizeof(v->scratch[0]));
    return v->scratch == NULL ? -ENOMEM : 0;
}

void slab_view_release(struct slab_view *v)
{
    free(v->scratch);
    v->scratch = NULL;
}

void slab_view_summary(const struct slab_view *v, size_t case_index, size_t allocator_index,
                       size_t size_index, int lane, unsigned column, struct lab_summary *out)
{
    const size_t n =
        lab_run_series(v->run, case_index, allocator_index, size_index, lane, column, v->scratch);
    lab_summarize(v->scratch, n, out);
}

double slab_view_cell(const struct slab_view *v, size_t case_index, size_t allocator_index,
                      size_t size_index, unsigned column)
{
    struct lab_summary s;
    slab_view_summary(v, case_index, allocator_index, size_index, -1, column, &s);
    return lab_summary_value(&s, v->stat) * (v->in_ns ? v->run->tick_ns : 1);
}

static bool is_of(const struct lab_result *r, size_t case_index, size_t allocator_index)
{
    return r->case_index == case_index && r->allocator_index == allocator_index;
}

void slab_view_memory(const struct slab_view *v, size_t case_index, size_t allocator_index,
                      struct slab_memory *out)
{
    double values[5][128];
    size_t n = 0;

    for (size_t i = 0; i < v->run->n_results && n < 128; i++) {
        const struct lab_result *r = &v->run->results[i];
        if (!is_of(r, case_index, allocator_index))
            continue;
        values[0][n] = (double)r->head->rss_start_bytes;
        values[1][n] = (double)r->head->rss_end_bytes;
        values[2][n] = (double)r->head->rss_idle_bytes;
        values[3][n] = (double)r->head->rss_peak_bytes;
        values[4][n] = (double)r->head->idle_ns / 1e9;
        n++;
    }
    out->start = lab_median(values[0], n);
    out->end = lab_median(values[1], n);
    out->idle = lab_median(values[2], n);
    out->peak = lab_median(values[3], n);
    out->idle_s = lab_median(values[4], n);
}

bool slab_view_counter(const struct slab_view *v, size_t case_index, size_t allocator_index,
                       size_t size_index, enum slub_stat stat, uint64_t *sum)
{
    bool counted = false;
    *sum = 0;
    for (size_t i = 0; i < v->run->n_results; i++) {
        const struct lab_result *r = &v->run->results[i];
        if (!is_of(r, case_index, allocator_index) || !r->head->has_counters)
            continue;
        const uint64_t value = r->sizes[size_index].counter[stat];
        if (value == SLUB_NOT_COUNTED)
            return false;
        *sum += value;
        counted = true;
    }
    return counted;
}

uint64_t slab_view_calls(const struct slab_view *v, size_t case_index, size_t allocator_index,
                         size_t size_index)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < v->run->n_results; i++) {
        const struct lab_result *r = &v->run->results[i];
        if (is_of(r, case_index, allocator_index))
            sum += r->sizes[size_index].n_allocs;
    }
    return sum;
}

const char *slab_view_tick_name(void)
{
    return strcmp(TICKS_NAME, "TSC") == 0 ? "cycles" : "ticks";
}
