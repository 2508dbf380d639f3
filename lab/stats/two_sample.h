/* SPDX-License-Identifier: MIT */
/* Whether two series differ: tests of significance, and how large a difference is beside the noise.
 *
 * No function changes its series. A p-value is two-sided; 1 where a test has nothing to say (too few values, or all
 * alike). Those that return int fail only with -ENOMEM.
 */
#ifndef SLUB_LAB_TWO_SAMPLE_H
#define SLUB_LAB_TWO_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct lab_test {
    double statistic;
    double p;
};

/* Mann-Whitney: are values of @b as often above as below those of @a? U of @a; exact up to na * nb = 900 without ties,
 * else the normal approximation, corrected for ties and continuity. */
int lab_mann_whitney(const double *a, size_t na, const double *b, size_t nb, struct lab_test *out);

/* Welch: are the means alike, whatever the variances? t of mean(b) - mean(a). */
void lab_welch(const double *a, size_t na, const double *b, size_t nb, struct lab_test *out);

/* Wilcoxon's signed ranks: is the median of the paired differences b[i] - a[i] zero? The smaller of the two sums of
 * ranks; pairs without a difference are left out. Exact up to 60 pairs without ties. */
int lab_wilcoxon(const double *a, const double *b, size_t n, struct lab_test *out);

/* Student's t of the mean of b[i] - a[i]. */
void lab_paired_t(const double *a, const double *b, size_t n, struct lab_test *out);

/* Randomisation: were the two of a pair to change places by the toss of a coin, how often would the sums of the sides'
 * ranks, among all 2n values, be as far apart as they are? This is what the order within a block was drawn by. What
 * moves both of a pair cancels, and unlike among signed ranks a value far out weighs no more than the highest rank.
 * p by 20000 tosses. Statistic: ranks of @b less those of @a. */
int lab_swap_test(const double *a, const double *b, size_t n, uint64_t seed, struct lab_test *out);

/* Kruskal and Wallis: have the groups, of which group[i] < n_groups is that of values[i], one median? H, and p by the
 * distribution of chi square: for five or more values a group. Groups without values do not count. */
int lab_kruskal_wallis(const double *values, const unsigned *group, size_t n, unsigned n_groups, struct lab_test *out);

/* Cliff's delta: how much more often a value of @b is above one of @a than below; -1 to 1. */
double lab_cliff_delta(const double *a, size_t na, const double *b, size_t nb);

/* Hedges' g: difference of the means in pooled standard deviations, corrected for few values; 0 without noise. */
double lab_hedges_g(const double *a, size_t na, const double *b, size_t nb);

/* Holm: p-values of one table made larger, so that among them all one that is wrong is as likely as alone. In place. */
int lab_holm(double *p, size_t n);

#endif
