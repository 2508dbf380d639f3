/* SPDX-License-Identifier: MIT */
/* Confidence interval of the ratio of two medians, by resampling. */
#ifndef SLUB_LAB_BOOTSTRAP_H
#define SLUB_LAB_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAB_RESAMPLES 4000

struct lab_interval {
    double low;
    double high;
};

/* Interval that holds median(b) / median(a) with probability @confidence. Paired: a[i] and b[i], na of them, are drawn
 * together, so that what moved both cancels. The same seed gives the same interval. @a must be positive. 0, or
 * -EINVAL without values, -ENOMEM. */
int lab_bootstrap_ratio(const double *a, size_t na, const double *b, size_t nb, bool is_paired, double confidence,
                        uint64_t seed, struct lab_interval *out);

#endif
