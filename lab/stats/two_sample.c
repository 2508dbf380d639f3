/* SPDX-License-Identifier: MIT */
/* Owns the tests of significance and the effect sizes; distributions are the GNU Scientific Library's.
 *
 * Source: Fisher 1935 (randomisation), Mann and Whitney 1947, Wilcoxon 1945, Welch 1947, Holm 1979, Cliff 1993,
 * Hedges 1981, Kruskal and Wallis 1952.
 */
#include "stats/two_sample.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define N_TOSSES         20000
#define MOST_EXACT_PAIRS 60  /* Wilcoxon */
#define MOST_EXACT_CELLS 900 /* Mann-Whitney: na * nb */

static const struct lab_test nothing_to_say = {0, 1};

/* Ranks from 1, ties share theirs. Returns the sum of t^3 - t over groups of t tied values; a negative number when out
 * of memory. */
static double rank_values(const double *values, size_t n, double *ranks)
{
    size_t *order = malloc(n * sizeof(order[0]));
    double ties = 0;

    if (order == NULL)
        return -1;
    gsl_sort_index(order, values, 1, n);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && values[order[end]] == values[order[i]]; end++)
            continue;
        const double t = (double)(end - i);
        for (size_t k = i; k < end; k++)
            ranks[order[k]] = (double)(i + end + 1) / 2;
        ties += t * t * t - t;
    }
    free(order);
    return ties;
}

/* Normal approximation of a sum that takes whole steps: half a step less, but not beyond the middle. */
static double two_sided_normal(double distance, double sd)
{
    const double z = fmax(fabs(distance) - 0.5, 0) / sd;
    return fmin(2 * gsl_cdf_ugaussian_Q(z), 1);
}


/* P(U <= u) by the number of arrangements: the coefficients of the Gaussian binomial [na+nb over na]. */
static int exact_mann_whitney(double u, size_t na, size_t nb, double *p)
{
    const size_t n_ways = na * nb + 1;
    double *ways = calloc(n_ways, sizeof(ways[0]));
    double below = 0;
    double all = 0;

    if (ways == NULL)
        return -ENOMEM;
    ways[0] = 1;
    for (size_t i = 1; i <= na; i++) { /* times (1 - q^(nb+i)) / (1 - q^i) */
        for (size_t s = n_ways; s-- > nb + i;)
            ways[s] -= ways[s - nb - i];
        for (size_t s = i; s < n_ways; s++)
            ways[s] += ways[s - i];
    }
    for (size_t s = 0; s < n_ways; s++) {
        all += ways[s];
        below += (double)s <= u ? ways[s] : 0;
    }
    free(ways);
    *p = fmin(2 * below / all, 1);
    return 0;
}

int lab_mann_whitney(const double *a, size_t na, const double *b, size_t nb, struct lab_test *out)
{
    const size_t n = na + nb;
    double sum = 0;

    *out = nothing_to_say;
    if (na == 0 || nb == 0)
        return 0;
    double *both = malloc(2 * n * sizeof(both[0]));
    if (both == NULL)
        return -ENOMEM;
    memcpy(both, a, na * sizeof(a[0]));
    memcpy(both + na, b, nb * sizeof(b[0]));
    const double ties = rank_values(both, n, both + n);
    for (size_t i = 0; i < na; i++)
        sum += both[n + i];
    free(both);
    if (ties < 0)
        return -ENOMEM;
    const double cells = (double)na * (double)nb;
    out->statistic = sum - (double)na * ((double)na + 1) / 2;
    if (ties == 0 && na * nb <= MOST_EXACT_CELLS)
        return exact_mann_whitney(fmin(out->statistic, cells - out->statistic), na, nb, &out->p);
    const double variance = cells / 12 * ((double)n + 1 - ties / ((double)n * ((double)n - 1)));
    if (variance > 0)
        out->p = two_sided_normal(out->statistic - cells / 2, sqrt(variance));
    return 0;
}

void lab_welch(const double *a, size_t na, const double *b, size_t nb, struct lab_test *out)
{
    *out = nothing_to_say;
    if (na < 2 || nb < 2)
        return;
    const double va = gsl_stats_variance(a, 1, na) / (double)na;
    const double vb = gsl_stats_variance(b, 1, nb) / (double)nb;
    const double difference = gsl_stats_mean(b, 1, nb) - gsl_stats_mean(a, 1, na);
    if (va + vb == 0) {
        out->p = difference == 0 ? 1 : 0;
        return;
    }
    const double freedom = (va + vb) * (va + vb) / (va * va / ((double)na - 1) + vb * vb / ((double)nb - 1));
    out->statistic = difference / sqrt(va + vb);
    out->p = 2 * gsl_cdf_tdist_Q(fabs(out->statistic), freedom);
}

static int exact_wilcoxon(double w, size_t n, double *p)
{
    const size_t n_ways = n * (n + 1) / 2 + 1;
    double *ways = calloc(n_ways, sizeof(ways[0]));
    double below = 0;

    if (ways == NULL)
        return -ENOMEM;
    ways[0] = 1;
    for (size_t rank = 1; rank <= n; rank++) { /* every sum, with this rank and without it */
        for (size_t s = n_ways; s-- > rank;)
            ways[s] += ways[s - rank];
    }
    for (size_t s = 0; s < n_ways && (double)s <= w; s++)
        below += ways[s];
    free(ways);
    *p = fmin(2 * below / pow(2, (double)n), 1);
    return 0;
}

int lab_wilcoxon(const double *a, const double *b, size_t n, struct lab_test *out)
{
    double positive = 0;
    size_t kept = 0;

    *out = nothing_to_say;
    double *room = malloc(3 * (n + 1) * sizeof(room[0]));
    if (room == NULL)
        return -ENOMEM;
    double *differences = room;
    double *sizes = room + n;
    double *ranks = room + 2 * n;
    for (size_t i = 0; i < n; i++) {
        if (b[i] == a[i])
            continue;
        differences[kept] = b[i] - a[i];
        sizes[kept++] = fabs(b[i] - a[i]);
    }
    const double ties = kept == 0 ? 0 : rank_values(sizes, kept, ranks);
    for (size_t i = 0; i < kept; i++)
        positive += differences[i] > 0 ? ranks[i] : 0;
    free(room);
    if (ties < 0)
        return -ENOMEM;
    if (kept == 0)
        return 0;
    const double k = (double)kept;
    out->statistic = fmin(positive, k * (k + 1) / 2 - positive);
    if (ties == 0 && kept <= MOST_EXACT_PAIRS)
        return exact_wilcoxon(out->statistic, kept, &out->p);
    const double variance = k * (k + 1) * (2 * k + 1) / 24 - ties / 48;
    out->p = two_sided_normal(out->statistic - k * (k + 1) / 4, sqrt(variance));
    return 0;
}

void lab_paired_t(const double *a, const double *b, size_t n, struct lab_test *out)
{
    double mean = 0;
    double squares = 0;

    *out = nothing_to_say;
    if (n < 2)
        return;
    for (size_t i = 0; i < n; i++)
        mean += (b[i] - a[i]) / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (b[i] - a[i] - mean) * (b[i] - a[i] - mean);
    if (squares == 0) {
        out->p = mean == 0 ? 1 : 0;
        return;
    }
    out->statistic = mean / sqrt(squares / ((double)n - 1) / (double)n);
    out->p = 2 * gsl_cdf_tdist_Q(fabs(out->statistic), (double)n - 1);
}

int lab_swap_test(const double *a, const double *b, size_t n, uint64_t seed, struct lab_test *out)
{
    size_t n_as_far = 0;

    *out = nothing_to_say;
    if (n < 2)
        return 0;
    double *values = malloc(4 * n * sizeof(values[0]));
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    double ties = -1;
    if (values != NULL && rng != NULL) {
        double *ranks = values + 2 * n;
        memcpy(values, a, n * sizeof(a[0]));
        memcpy(values + n, b, n * sizeof(b[0]));
        ties = rank_values(values, 2 * n, ranks);
        for (size_t i = 0; i < n; i++) {
            ranks[i] = ranks[n + i] - ranks[i];
            out->statistic += ranks[i];
        }
        gsl_rng_set(rng, seed);
        for (size_t t = 0; ties >= 0 && t < N_TOSSES; t++) {
            unsigned long bits = 0;
            double sum = 0;
            for (size_t i = 0; i < n; i++, bits >>= 1) {
                if (i % 16 == 0)
                    bits = gsl_rng_get(rng) >> 8;
                sum += (bits & 1) != 0 ? -ranks[i] : ranks[i];
            }
            n_as_far += fabs(sum) >= fabs(out->statistic) ? 1 : 0; /* halves: sums are exact */
        }
        out->p = (double)(n_as_far + 1) / (N_TOSSES + 1);
    }
    free(values);
    if (rng != NULL)
        gsl_rng_free(rng);
    return ties < 0 ? -ENOMEM : 0;
}

int lab_kruskal_wallis(const double *values, const unsigned *group, size_t n, unsigned n_groups, struct lab_test *out)
{
    double h = 0;
    unsigned n_filled = 0;

    *out = nothing_to_say;
    double *ranks = malloc((n + 1) * sizeof(ranks[0]));
    if (ranks == NULL)
        return -ENOMEM;
    const double ties = n == 0 ? 0 : rank_values(values, n, ranks);
    for (unsigned g = 0; g < n_groups && ties >= 0; g++) {
        double sum = 0;
        double count = 0;
        for (size_t i = 0; i < n; i++) {
            sum += group[i] == g ? ranks[i] : 0;
            count += group[i] == g ? 1 : 0;
        }
        n_filled += count > 0 ? 1 : 0;
        h += count > 0 ? sum * sum / count : 0;
    }
    free(ranks);
    if (ties < 0)
        return -ENOMEM;
    const double m = (double)n;
    const double correction = n < 2 ? 0 : 1 - ties / (m * m * m - m);
    if (n_filled < 2 || correction <= 0)
        return 0;
    out->statistic = (12 / (m * (m + 1)) * h - 3 * (m + 1)) / correction;
    out->p = gsl_cdf_chisq_Q(fmax(out->statistic, 0), n_filled - 1);
    return 0;
}

double lab_cliff_delta(const double *a, size_t na, const double *b, size_t nb)
{
    double more = 0;
    for (size_t i = 0; i < na; i++) {
        for (size_t k = 0; k < nb; k++)
            more += (double)(b[k] > a[i]) - (double)(b[k] < a[i]);
    }
    return na == 0 || nb == 0 ? 0 : more / ((double)na * (double)nb);
}

double lab_hedges_g(const double *a, size_t na, const double *b, size_t nb)
{
    if (na < 2 || nb < 2)
        return 0;
    const double freedom = (double)na + (double)nb - 2;
    const double pooled = sqrt((gsl_stats_variance(a, 1, na) * ((double)na - 1) +
                                gsl_stats_variance(b, 1, nb) * ((double)nb - 1)) /
                               freedom);
    const double difference = gsl_stats_mean(b, 1, nb) - gsl_stats_mean(a, 1, na);
    return pooled == 0 ? 0 : difference / pooled * (1 - 3 / (4 * freedom - 1));
}

int lab_holm(double *p, size_t n)
{
    size_t *order = malloc((n + 1) * sizeof(order[0]));
    double least = 0;

    if (order == NULL)
        return -ENOMEM;
    gsl_sort_index(order, p, 1, n);
    for (size_t i = 0; i < n; i++) {
        least = fmin(fmax(least, p[order[i]] * (double)(n - i)), 1);
        p[order[i]] = least;
    }
    free(order);
    return 0;
}
