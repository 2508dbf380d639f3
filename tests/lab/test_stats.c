/* SPDX-License-Identifier: MIT */
/* Unit tests of the lab's statistics, against figures of other programs.
 *
 * Source of the figures: scipy 1.10.1 (scipy.stats: mannwhitneyu, kruskal, ttest_ind, ttest_rel, wilcoxon, theilslopes,
 * median_abs_deviation, bootstrap) and R 4.2.2 (p.adjust, and dip of the package diptest 0.76), or written beside them.
 */
#include "stats/bootstrap.h"
#include "stats/power.h"
#include "stats/shape.h"
#include "stats/summary.h"
#include "stats/two_sample.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const double a[] = {12.1, 11.8, 12.6, 12.05, 11.9, 12.4, 12.2, 11.7, 12.3, 12.8};
static const double b[] = {12.9, 12.5, 13.1, 12.0, 12.7, 13.3, 12.65, 12.35, 13.0, 13.6};
static const double tied_a[] = {1, 2, 2, 3, 3, 3, 4, 5};
static const double tied_b[] = {2, 3, 4, 4, 5, 5, 6, 7, 7};

static void check(double value, double expected, double relative_error)
{
    if (!(fabs(value - expected) <= fabs(expected) * relative_error))
        fail_msg("%.12g, expected %.12g", value, expected);
}

static void a_series_is_summed_up(void **state)
{
    double values[] = {3, 1, 2, 10};
    struct lab_summary s;
    (void)state;
    lab_summarize(values, N(values), &s);
    assert_int_equal(s.n, 4);
    check(s.min, 1, 0);
    check(s.max, 10, 0);
    check(s.mean, 4, 1e-12);
    check(s.median, 2.5, 1e-12);
    check(s.stddev, 4.08248290464, 1e-10);
    check(lab_summary_spread_percent(&s), 102.0620726159, 1e-10); /* 2 * stddev / sqrt(4) of 4 */
}

static void ranks_of_two_sides_are_compared(void **state)
{
    struct lab_test t;
    (void)state;
    assert_int_equal(lab_mann_whitney(a, N(a), b, N(b), &t), 0);
    check(t.statistic, 14, 0);
    check(t.p, 0.0051960423477451344, 1e-9);
    assert_int_equal(lab_mann_whitney(b, N(b), a, N(a), &t), 0);
    check(t.statistic, 86, 0);
    check(t.p, 0.0051960423477451344, 1e-9);
    assert_int_equal(lab_mann_whitney(tied_a, N(tied_a), tied_b, N(tied_b), &t), 0);
    check(t.statistic, 13.5, 0);
    check(t.p, 0.03175895714806371, 1e-9);
    const double alike[] = {5, 5, 5};
    assert_int_equal(lab_mann_whitney(alike, 3, alike, 3, &t), 0);
    check(t.p, 1, 0);
    assert_int_equal(lab_mann_whitney(NULL, 0, b, N(b), &t), 0);
    check(t.p, 1, 0);
}

static void means_of_two_sides_are_compared(void **state)
{
    struct lab_test t;
    (void)state;
    lab_welch(a, N(a), b, N(b), &t);
    check(t.statistic, 3.3707269413455947, 1e-9);
    check(t.p, 0.0037271514035454377, 1e-8);
    lab_paired_t(a, b, N(a), &t);
    check(t.statistic, 7.183697139158633, 1e-9);
    check(t.p, 5.1736856618221995e-05, 1e-7);
    check(lab_hedges_g(a, N(a), b, N(b)), 1.4437404818643138, 1e-9);
    check(lab_cliff_delta(a, N(a), b, N(b)), 0.72, 1e-12);
}

static void signed_ranks_of_pairs_are_compared(void **state)
{
    /* Hollander and Wolfe's example, in R's help of wilcox.test: V = 40, p = 0.03906. */
    const double first[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
    const double second[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
    struct lab_test t;
    (void)state;
    assert_int_equal(lab_wilcoxon(first, second, N(first), &t), 0);
    check(t.statistic, 5, 0); /* 45 - 40 */
    check(t.p, 0.0390625, 1e-12);
    assert_int_equal(lab_wilcoxon(tied_a, tied_b, N(tied_a), &t), 0);
    check(t.statistic, 0, 0);
    check(t.p, 0.011539988490258973, 1e-9);
    assert_int_equal(lab_wilcoxon(first, first, N(first), &t), 0);
    check(t.p, 1, 0);
}

static void pairs_are_swapped(void **state)
{
    /* By hand: of 2^n outcomes, two are as far when all pairs differ the same way. */
    const double low[] = {1, 2, 3, 4, 5, 6, 7};
    const double high[] = {11, 12, 13, 14, 15, 16, 17};
    struct lab_test t;
    (void)state;
    assert_int_equal(lab_swap_test(low, high, 2, 1, &t), 0);
    check(t.statistic, 4, 0);
    check(t.p, 0.5, 0.05);
    assert_int_equal(lab_swap_test(low, high, 7, 1, &t), 0);
    check(t.statistic, 49, 0);
    check(t.p, 2 / 128.0, 0.2);
    assert_int_equal(lab_swap_test(low, low, 7, 1, &t), 0);
    check(t.p, 1, 0);
    /* A neighbour's stretch of 1000 hides the difference from t, not from this. */
    const double far[] = {11, 12, 1013, 14, 15, 16, 17};
    assert_int_equal(lab_swap_test(low, far, 7, 1, &t), 0);
    check(t.p, 2 / 128.0, 0.2);
    lab_paired_t(low, far, 7, &t);
    assert_true(t.p > 0.2);
}

static void groups_are_compared(void **state)
{
    const double values[] = {1, 2, 3, 4, 5, 3, 4, 5, 6, 9, 10, 11, 12, 2, 14};
    const unsigned group[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3}; /* nothing in 2 */
    struct lab_test t;
    (void)state;
    assert_int_equal(lab_kruskal_wallis(values, group, N(values), 4, &t), 0);
    check(t.statistic, 5.655395683453246, 1e-9);
    check(t.p, 0.05914886710090996, 1e-9);
    assert_int_equal(lab_kruskal_wallis(values, group, 5, 4, &t), 0);
    check(t.p, 1, 0);
}

static void a_table_is_corrected(void **state)
{
    double p[] = {0.01, 0.04, 0.03, 0.005};
    const double expected[] = {0.03, 0.06, 0.06, 0.02};
    (void)state;
    assert_int_equal(lab_holm(p, N(p)), 0);
    for (size_t i = 0; i < N(p); i++)
        check(p[i], expected[i], 1e-12);
}

static void ratios_have_an_interval(void **state)
{
    struct lab_interval i, again;
    (void)state;
    /* scipy's, of 20000 resamples: 1.00407 to 1.10169, and paired 1.03093 to 1.06939; resampling has an error. */
    assert_int_equal(lab_bootstrap_ratio(a, N(a), b, N(b), false, 0.99, 1, &i), 0);
    check(i.low, 1.00407, 0.004);
    check(i.high, 1.10169, 0.004);
    assert_int_equal(lab_bootstrap_ratio(a, N(a), b, N(b), true, 0.99, 1, &i), 0);
    check(i.low, 1.03093, 0.004);
    check(i.high, 1.06939, 0.004);
    assert_int_equal(lab_bootstrap_ratio(a, N(a), b, N(b), true, 0.99, 1, &again), 0);
    assert_true(i.low == again.low && i.high == again.high);
    assert_int_equal(lab_bootstrap_ratio(a, N(a), b, 0, false, 0.99, 1, &i), -EINVAL);
    assert_int_equal(lab_bootstrap_ratio(a, N(a), b, 3, true, 0.99, 1, &i), -EINVAL);
}

static void runs_are_planned(void **state)
{
    (void)state;
    check(lab_relative_noise(a, N(a)), 0.3706505546264005 / 12.149999999999999, 1e-4);
    /* (2.5758 + 1.2816) * noise * sqrt(pi / runs), by scipy's norm */
    check(lab_detectable(0.02, 30, 0.01), 0.024965302166761884, 1e-9);
    assert_int_equal(lab_runs_needed(0.02, 0.02, 0.01), 47);
    assert_int_equal(lab_runs_needed(0, 0.02, 0.01), 2);
    assert_int_equal(lab_runs_needed(1, 1e-9, 0.01), 1000000);
}

static void drift_is_found(void **state)
{
    const double rising[] = {1.0, 1.3, 1.2, 1.5, 1.9, 1.7, 2.0, 2.4, 2.2, 2.6};
    struct lab_drift d;
    (void)state;
    assert_int_equal(lab_find_drift(rising, N(rising), &d), 0);
    check(d.tau, 0.8666666666666666, 1e-12);
    check(d.p, 0.0006767641801210457, 1e-9); /* S = 39, by scipy's norm */
    check(d.relative_change, 9 * 0.16666666666666666 / 1.8, 1e-9);
    assert_int_equal(lab_find_drift(a, N(a), &d), 0);
    assert_true(d.p > 0.3);
    assert_int_equal(lab_find_drift(a, 4, &d), 0);
    check(d.p, 1, 0);
}

/* The same few values in R. */
static void make_series(double *x, size_t n)
{
    unsigned s = (unsigned)n;
    for (size_t i = 0; i < n; i++) {
        s = (s * 1103 + 12345) % 65536;
        x[i] = s / 65536.0;
    }
}

static int ascending(const void *p, const void *q)
{
    const double *x = p;
    const double *y = q;
    return (*x > *y) - (*x < *y);
}

static void dips_are_those_of_diptest(void **state)
{
    static const struct {
        size_t n;
        double flat, two, skewed;
    } expected[] = {{5, 0.1084508197, 0.1654027303, 0.1},
                    {20, 0.07868020305, 0.10740559896, 0.07158749165},
                    {100, 0.04117899250, 0.08445729574, 0.03076943699},
                    {400, 0.01359152752, 0.08513183594, 0.01223054040}};
    static double x[400], two[800], skewed[400];
    static size_t room[1600];
    (void)state;
    for (size_t i = 0; i < N(expected); i++) {
        const size_t n = expected[i].n;
        make_series(x, n);
        for (size_t k = 0; k < n; k++) {
            two[k] = x[k];
            two[n + k] = x[k] + 1.5;
            skewed[k] = -log(x[k] + 1 / 65536.0);
        }
        qsort(x, n, sizeof(double), ascending);
        qsort(two, 2 * n, sizeof(double), ascending);
        qsort(skewed, n, sizeof(double), ascending);
        check(lab_dip(x, n, room), expected[i].flat, 1e-8);
        check(lab_dip(two, 2 * n, room), expected[i].two, 1e-8);
        check(lab_dip(skewed, n, room), expected[i].skewed, 1e-8);
    }
}

static void two_modes_are_found(void **state)
{
    const double two[] = {1.0, 5.0, 1.1, 5.1, 1.2, 5.15, 1.3, 5.3, 1.4, 5.4, 1.45, 5.5, 1.5, 5.6};
    const double one[] = {0.3, 2.2, 2.5, 2.9, 3.1, 3.2, 3.4, 3.7, 4.6, 7.7};
    struct lab_modes m;
    (void)state;
    assert_int_equal(lab_find_modes(two, N(two), 1, &m), 0);
    check(m.dip, 0.2134146, 1e-6);
    assert_true(m.p < 0.005); /* 0 of 20000 in R */
    assert_int_equal(m.n_low, 7);
    check(m.low, 1.3, 1e-12);
    check(m.high, 5.3, 1e-12);
    assert_int_equal(lab_find_modes(one, N(one), 1, &m), 0);
    check(m.dip, 0.05714286, 1e-6);
    assert_true(m.p > 0.9); /* 0.99565 in R */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_is_summed_up),
        cmocka_unit_test(ranks_of_two_sides_are_compared),
        cmocka_unit_test(means_of_two_sides_are_compared),
        cmocka_unit_test(signed_ranks_of_pairs_are_compared),
        cmocka_unit_test(pairs_are_swapped),
        cmocka_unit_test(groups_are_compared),
        cmocka_unit_test(a_table_is_corrected),
        cmocka_unit_test(ratios_have_an_interval),
        cmocka_unit_test(runs_are_planned),
        cmocka_unit_test(drift_is_found),
        cmocka_unit_test(dips_are_those_of_diptest),
        cmocka_unit_test(two_modes_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
