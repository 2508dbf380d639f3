/* SPDX-License-Identifier: MIT */
/* Owns the planning: the normal approximation for two medians.
 *
 * The median of n normal values has the variance pi/2 * s^2 / n, and two of them are compared.
 */
#include "stats/power.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RUNS 1000000

double lab_relative_noise(const double *values, size_t n)
{
    if (n < 2)
        return 0;
    double *work = malloc(2 * n * sizeof(work[0]));
    if (work == NULL)
        return -1;
    memcpy(work, values, n * sizeof(work[0]));
    const double median = gsl_stats_median(work, 1, n);
    const double noise = gsl_stats_mad(values, 1, n, work + n); /* times 1.4826 already */
    free(work);
    return median == 0 ? 0 : noise / fabs(median);
}

static double distance(double alpha)
{
    return gsl_cdf_ugaussian_Qinv(alpha / 2) + gsl_cdf_ugaussian_Pinv(LAB_POWER);
}

double lab_detectable(double relative_noise, size_t n_runs, double alpha)
{
    return n_runs == 0 ? INFINITY : distance(alpha) * relative_noise * sqrt(M_PI / (double)n_runs);
}

size_t lab_runs_needed(double relative_noise, double difference, double alpha)
{
    const double root = distance(alpha) * relative_noise / difference;
    const double n = ceil(M_PI * root * root);
    return n < 2 ? 2 : n > MOST_RUNS ? MOST_RUNS : (size_t)n;
}
