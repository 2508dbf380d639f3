/* SPDX-License-Identifier: MIT */
/* Owns the tests of a series' shape.
 *
 * Source: Mann 1945 and Kendall 1975 (trend), Sen 1968 (slope), Hartigan and Hartigan 1985 (dip), Fisher 1958 (cut into
 * two parts with the least variance).
 */
#include "stats/shape.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_VALUES  5
#define MOST_SLOPES   1000 /* values of which every pair is looked at; a longer series is thinned */
#define MOST_DIP      500  /* values of a dip; likewise thinned */
#define N_FLAT_SERIES 1000 /* simulated for its p-value */

/* Every k-th value, so that at most @most are left. Returns their number. */
static size_t thin(const double *values, size_t n, size_t most, double *out)
{
    const size_t step = (n + most - 1) / most;
    size_t kept = 0;
    for (size_t i = 0; i < n; i += step)
        out[kept++] = values[i];
    return kept;
}

static double ties_of(const double *sorted, size_t n)
{
    double ties = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end] == sorted[i]; end++)
            continue;
        const double t = (double)(end - i);
        ties += t * (t - 1) * (2 * t + 5);
    }
    return ties;
}

int lab_find_drift(const double *values, size_t n, struct lab_drift *out)
{
    double up = 0;
    size_t n_slopes = 0;

    *out = (struct lab_drift){0, 1, 0};
    if (n < LEAST_VALUES)
        return 0;
    const size_t most = n < MOST_SLOPES ? n : MOST_SLOPES;
    double *v = malloc((most + most * (most - 1) / 2) * sizeof(v[0]));
    if (v == NULL)
        return -ENOMEM;
    double *slopes = v + most;
    const size_t k = thin(values, n, most, v);
    for (size_t i = 0; i < k; i++) {
        for (size_t j = i + 1; j < k; j++) {
            up += (double)(v[j] > v[i]) - (double)(v[j] < v[i]);
            slopes[n_slopes++] = (v[j] - v[i]) / (double)(j - i);
        }
    }
    const double slope = gsl_stats_median(slopes, 1, n_slopes);
    gsl_sort(v, 1, k);
    const double m = (double)k;
    const double median = gsl_stats_median_from_sorted_data(v, 1, k);
    const double variance = (m * (m - 1) * (2 * m + 5) - ties_of(v, k)) / 18;
    out->tau = up / (m * (m - 1) / 2);
    if (variance > 0)
        out->p = fmin(2 * gsl_cdf_ugaussian_Q(fmax(fabs(up) - 1, 0) / sqrt(variance)), 1);
    out->relative_change = median == 0 ? 0 : slope * (m - 1) / median;
    free(v);
    return 0;
}

/* ---- the dip ------------------------------------------------------------------------------
 *
 * The values are the points (x[i], i). Below any interval of them lies its greatest convex minorant, above it its
 * least concave majorant. The modal interval is narrowed, from the whole series, to where these two are farthest
 * apart; outside of it the minorant must carry the series on the left and the majorant on the right, and how far they
 * miss it is the dip.
 */

/* For every point the previous corner of the minorant of the points up to it. */
static void link_minorant(const double *x, size_t n, size_t *previous)
{
    previous[0] = 0;
    for (size_t j = 1; j < n; j++) {
        size_t at = j - 1;
        /* A corner stays when the slope grows there. */
        while (at != 0 && (x[j] - x[at]) * (double)(at - previous[at]) >= (x[at] - x[previous[at]]) * (double)(j - at))
            at = previous[at];
        previous[j] = at;
    }
}

/* For every point the next corner of the majorant of the points from it. */
static void link_majorant(const double *x, size_t n, size_t *next)
{
    next[n - 1] = n - 1;
    for (size_t j = n - 1; j-- > 0;) {
        size_t at = j + 1;
        while (at != n - 1 && (x[at] - x[j]) * (double)(next[at] - at) >= (x[next[at]] - x[at]) * (double)(at - j))
            at = next[at];
        next[j] = at;
    }
}

/* Height at x[i] of the line from corner p to corner q. */
static double height(const double *x, size_t p, size_t q, size_t i)
{
    return x[q] == x[p] ? (double)q : (double)p + (double)(q - p) * (x[i] - x[p]) / (x[q] - x[p]);
}

/* How far the steps of the series rise above its minorant in [low, end]. */
static double miss_below(const double *x, const size_t *previous, size_t low, size_t end)
{
    double most = 1;
    for (size_t q = end; q > low; q = previous[q]) {
        const size_t p = previous[q];
        for (size_t i = p; i <= q && x[q] > x[p]; i++)
            most = fmax(most, (double)i + 1 - height(x, p, q, i));
    }
    return most;
}

/* How far its majorant in [start, high] rises above them. */
static double miss_above(const double *x, const size_t *next, size_t start, size_t high)
{
    double most = 1;
    for (size_t p = start; p < high; p = next[p]) {
        const size_t q = next[p];
        for (size_t i = p; i <= q && x[q] > x[p]; i++)
            most = fmax(most, height(x, p, q, i) + 1 - (double)i);
    }
    return most;
}

/* Widest gap between majorant and minorant of [*low, *high], which become the modal interval that it asks for. A corner
 * of the whole series' minorant or majorant is one of every part's that it lies in. */
static double widest_gap(const double *x, const size_t *previous, const size_t *next, size_t *low, size_t *high)
{
    const size_t first = *low;
    const size_t last = *high;
    double widest = 1;

    for (size_t c = last; c > first; c = previous[c]) { /* corners of the minorant, against the majorant above */
        size_t p = first;
        while (next[p] < c)
            p = next[p];
        const double gap = height(x, p, next[p], c) + 1 - (double)c;
        if (gap > widest) {
            widest = gap;
            *low = c;
            *high = next[p];
        }
    }
    for (size_t c = first; c < last; c = next[c]) { /* corners of the majorant, against the minorant below */
        size_t q = last;
        while (previous[q] > c)
            q = previous[q];
        const double gap = (double)c + 1 - height(x, previous[q], q, c);
        if (gap > widest) {
            widest = gap;
            *low = previous[q];
            *high = c;
        }
    }
    return widest;
}

double lab_dip(const double *sorted, size_t n, size_t *room)
{
    size_t *previous = room;
    size_t *next = room + n;
    size_t low = 0;
    size_t high = n - 1;
    double dip = 1;

    if (n < 2 || sorted[0] == sorted[n - 1])
        return n == 0 ? 0 : 1 / (2 * (double)n);
    link_minorant(sorted, n, previous);
    link_majorant(sorted, n, next);
    for (;;) {
        size_t mode_low = low;
        size_t mode_high = high;
        if (widest_gap(sorted, previous, next, &mode_low, &mode_high) < dip)
            break;
        dip = fmax(dip, fmax(miss_below(sorted, previous, low, mode_low),
                             miss_above(sorted, next, mode_high, high)));
        if (mode_low == low && mode_high == high)
            break;
        low = mode_low;
        high = mode_high;
    }
    return dip / (2 * (double)n);
}

/* Where a cut leaves the least variance in the two parts: the one with the most between them. */
static void cut_in_two(const double *sorted, size_t n, struct lab_modes *out)
{
    double all = 0;
    double left = 0;
    double best = -1;

    for (size_t i = 0; i < n; i++)
        all += sorted[i];
    for (size_t i = 1; i < n; i++) {
        left += sorted[i - 1];
        const double difference = left / (double)i - (all - left) / (double)(n - i);
        const double between = difference * difference * (double)i * (double)(n - i);
        if (between > best) {
            best = between;
            out->n_low = i;
        }
    }
    out->low = gsl_stats_median_from_sorted_data(sorted, 1, out->n_low);
    out->high = gsl_stats_median_from_sorted_data(sorted + out->n_low, 1, n - out->n_low);
}

/* Sorted values of the uniform distribution, up to a factor: sums of exponential ones. */
static void draw_flat(gsl_rng *rng, double *sorted, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sorted[i] = sum += gsl_ran_exponential(rng, 1);
}

int lab_find_modes(const double *values, size_t n, uint64_t seed, struct lab_modes *out)
{
    size_t n_wider = 0;

    *out = (struct lab_modes){.p = 1};
    if (n < LEAST_VALUES)
        return 0;
    const size_t most = n < MOST_DIP ? n : MOST_DIP;
    double *v = malloc((n + 2 * most) * sizeof(v[0]));
    size_t *room = malloc(2 * most * sizeof(room[0]));
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    if (v != NULL && room != NULL && rng != NULL) {
        double *flat = v + n;
        for (size_t i = 0; i < n; i++)
            v[i] = values[i];
        gsl_sort(v, 1, n);
        const size_t k = thin(v, n, most, flat);
        out->dip = lab_dip(flat, k, room);
        gsl_rng_set(rng, seed);
        for (size_t i = 0; i < N_FLAT_SERIES; i++) {
            draw_flat(rng, flat + k, k);
            n_wider += lab_dip(flat + k, k, room) >= out->dip ? 1 : 0;
        }
        out->p = (double)(n_wider + 1) / (N_FLAT_SERIES + 1);
        cut_in_two(v, n, out);
    }
    const int err = v == NULL || room == NULL || rng == NULL ? -ENOMEM : 0;
    free(v);
    free(room);
    if (rng != NULL)
        gsl_rng_free(rng);
    return err;
}
