/* SPDX-License-Identifier: MIT */
/* Owns the statistics of the lab, computed by the GNU Scientific Library. */
#include "stats/summary.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

static double distance_median(const double *sorted, size_t n, double median)
{
    double distances[4096];
    /* A longer series is thinned evenly: its MAD is an estimate anyway. */
    const size_t room = sizeof(distances) / sizeof(distances[0]);
    const size_t step = (n + room - 1) / room;
    size_t kept = 0;
    for (size_t i = 0; i < n; i += step)
        distances[kept++] = fabs(sorted[i] - median);
    gsl_sort(distances, 1, kept);
    return gsl_stats_median_from_sorted_data(distances, 1, kept);
}

void lab_summarize(double *samples, size_t n, struct lab_summary *out)
{
    memset(out, 0, sizeof(*out));
    if (n == 0)
        return;
    gsl_sort(samples, 1, n);
    out->n = n;
    out->min = samples[0];
    out->max = samples[n - 1];
    out->median = gsl_stats_median_from_sorted_data(samples, 1, n);
    out->mean = gsl_stats_mean(samples, 1, n);
    out->p99 = gsl_stats_quantile_from_sorted_data(samples, 1, n, 0.99);
    out->stddev = n > 1 ? gsl_stats_sd(samples, 1, n) : 0;
    out->mad = distance_median(samples, n, out->median);
}

double lab_summary_spread_percent(const struct lab_summary *s)
{
    return s->n < 2 || s->mean == 0 ? 0 : 100 * 2 * s->stddev / sqrt((double)s->n) / fabs(s->mean);
}

double lab_summary_value(const struct lab_summary *s, enum lab_stat stat)
{
    switch (stat) {
    case LAB_STAT_MEDIAN:
        return s->median;
    case LAB_STAT_MEAN:
        return s->mean;
    case LAB_STAT_P99:
        return s->p99;
    default:
        return s->min;
    }
}

static const char *const names[LAB_N_STATS] = {"min", "median", "mean", "p99"};

const char *lab_stat_name(enum lab_stat stat)
{
    return (unsigned)stat < LAB_N_STATS ? names[stat] : NULL;
}

int lab_stat_parse(const char *name, enum lab_stat *stat)
{
    for (unsigned i = 0; i < LAB_N_STATS; i++) {
        if (strcmp(names[i], name) == 0) {
            *stat = (enum lab_stat)i;
            return 0;
        }
    }
    return -EINVAL;
}

double lab_geometric_mean(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += log(values[i]);
    return n == 0 ? 0 : exp(sum / (double)n);
}

double lab_median(double *values, size_t n)
{
    if (n == 0)
        return 0;
    gsl_sort(values, 1, n);
    return gsl_stats_median_from_sorted_data(values, 1, n);
}
