/* SPDX-License-Identifier: MIT */
/* How small a difference a number of runs can show, and how many runs a difference needs. */
#ifndef SLUB_LAB_POWER_H
#define SLUB_LAB_POWER_H

#include <stddef.h>

#define LAB_POWER 0.9 /* probability to find a difference of the size that is planned for */

/* Noise of a series relative to its median, robust against outliers: 1.4826 times the median distance from the median.
 * 0 for less than two values, -1 when out of memory. */
double lab_relative_noise(const double *values, size_t n);

/* Smallest relative difference of two medians that @n_runs of each side show at error probability @alpha with power
 * LAB_POWER. 0 without noise. */
double lab_detectable(double relative_noise, size_t n_runs, double alpha);

/* Runs of each side for that difference; at least 2, at most 1000000. */
size_t lab_runs_needed(double relative_noise, double difference, double alpha);

#endif
