/* SPDX-License-Identifier: MIT */
/* What a table says of a series of samples. */
#ifndef SLUB_LAB_SUMMARY_H
#define SLUB_LAB_SUMMARY_H

#include <stddef.h>

enum lab_stat { LAB_STAT_MIN, LAB_STAT_MEDIAN, LAB_STAT_MEAN, LAB_STAT_P99, LAB_N_STATS };

struct lab_summary {
    size_t n;
    double min;
    double median;
    double mean;
    double p99; /* interpolated between samples */
    double max;
    double stddev; /* of the sample, n - 1; 0 for one sample */
    double mad;    /* median of the distances from the median */
};

/* Sorts @samples. All zero when @n is 0. */
void lab_summarize(double *samples, size_t n, struct lab_summary *out);

/* Half the width of the interval of two standard errors around the mean, in per cent of the mean: the "+- %" of perf
 * stat and of the kernel's lists, at two sigma. 0 for one sample. */
double lab_summary_spread_percent(const struct lab_summary *s);

double lab_summary_value(const struct lab_summary *s, enum lab_stat stat);

/* "min", "median", "mean", "p99"; NULL when out of range. */
const char *lab_stat_name(enum lab_stat stat);

/* 0, or -EINVAL for a name that is none of these. */
int lab_stat_parse(const char *name, enum lab_stat *stat);

/* Of positive numbers; 0 when there are none. */
double lab_geometric_mean(const double *values, size_t n);

/* Sorts @values; 0 when there are none. */
double lab_median(double *values, size_t n);

#endif
