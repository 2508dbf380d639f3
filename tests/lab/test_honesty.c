/* SPDX-License-Identifier: MIT */
/* How often the verdict is right, over simulated machines: no clock decides.
 *
 * A sample is 1 s with noise of 1 %, stretched in one case of ten by up to half (a neighbour on the machine), while the
 * machine slows down by 5 % over 100 blocks. Sides are measured and the run ends as `slub compare` does it: block by
 * block, until the interval is narrow or there are 100.
 */
#include "report/comparison_table.h"
#include "stats/comparison.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define N_COMPARISONS 50
#define MOST_BLOCKS   100

static const struct lab_rules rules = {.alpha = 0.01, .threshold = 0.02, .is_paired = true, .seed = 1};

static double sample(gsl_rng *rng, double factor, size_t block)
{
    const double neighbour = gsl_rng_uniform(rng) < 0.1 ? 1 + 0.5 * gsl_rng_uniform(rng) : 1;
    return factor * (1 + gsl_ran_gaussian(rng, 0.01)) * neighbour * (1 + 0.0005 * (double)block);
}

/* @again_factor: of the control's second A. */
static void compare_once(gsl_rng *rng, double b_factor, double again_factor, struct lab_comparison *c)
{
    double a[MOST_BLOCKS], b[MOST_BLOCKS], again[MOST_BLOCKS];
    const enum lab_better better = LAB_LESS_IS_BETTER;
    size_t n = 0;
    int narrow = 0;

    while (n < MOST_BLOCKS && narrow == 0) {
        a[n] = sample(rng, 1, n);
        b[n] = sample(rng, b_factor, n);
        again[n] = sample(rng, again_factor, n);
        n++;
        narrow = n % 5 == 0 ? lab_is_narrow(a, n, b, n, &rules, NULL) : 0;
        assert_true(narrow >= 0);
    }
    assert_int_equal(lab_compare(a, n, b, n, &rules, c), 0);
    assert_int_equal(lab_compare_control(a, n, again, n, &rules, c), 0);
    assert_int_equal(lab_comparisons_judge(&c, &better, 1, &rules), 0);
}

static size_t count(double b_factor, double again_factor, enum lab_verdict verdict)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct lab_comparison c;
    size_t n = 0;

    assert_non_null(rng);
    gsl_rng_set(rng, 42);
    for (size_t i = 0; i < N_COMPARISONS; i++) {
        compare_once(rng, b_factor, again_factor, &c);
        n += c.verdict == verdict ? 1 : 0;
    }
    gsl_rng_free(rng);
    return n;
}

static void equal_sides_are_the_same(void **state)
{
    (void)state;
    assert_in_range(count(1, 1, LAB_VERDICT_SAME), 48, N_COMPARISONS);
}

static void three_per_cent_are_found(void **state)
{
    (void)state;
    assert_in_range(count(1.03, 1, LAB_VERDICT_WORSE), 45, N_COMPARISONS);
    assert_in_range(count(1 / 1.03, 1, LAB_VERDICT_BETTER), 45, N_COMPARISONS);
}

static void a_control_that_differs_is_not_trusted(void **state)
{
    (void)state;
    assert_in_range(count(1.03, 1.03, LAB_VERDICT_UNTRUSTED), 45, N_COMPARISONS);
}

static void words_say_what_was_found(void **state)
{
    const double a[] = {100, 101, 99, 100, 101, 99, 100, 102, 98, 100, 101, 99};
    double b[12];
    struct lab_comparison c;
    struct lab_comparison *rows[] = {&c};
    enum lab_better better = LAB_LESS_IS_BETTER;
    char text[256];
    (void)state;
    for (size_t i = 0; i < 12; i++)
        b[i] = a[i] * 1.1;
    assert_int_equal(lab_compare(a, 12, b, 12, &rules, &c), 0);
    assert_int_equal(lab_comparisons_judge(rows, &better, 1, &rules), 0);
    lab_verdict_words(&c, "faster", "slower", &rules, text, sizeof(text));
    assert_non_null(strstr(text, "slower by 10 % ("));
    better = LAB_MORE_IS_BETTER;
    assert_int_equal(lab_comparisons_judge(rows, &better, 1, &rules), 0);
    assert_int_equal(c.verdict, LAB_VERDICT_BETTER);
    assert_int_equal(lab_compare(a, 12, a, 12, &rules, &c), 0);
    assert_int_equal(lab_comparisons_judge(rows, &better, 1, &rules), 0);
    lab_verdict_words(&c, "faster", "slower", &rules, text, sizeof(text));
    assert_non_null(strstr(text, "no difference above "));
    assert_int_equal(lab_compare(a, 5, b, 5, &rules, &c), 0);
    assert_int_equal(lab_comparisons_judge(rows, &better, 1, &rules), 0);
    lab_verdict_words(&c, "faster", "slower", &rules, text, sizeof(text));
    assert_non_null(strstr(text, "cannot tell yet (needs about 10 runs)"));
}

static void drift_and_modes_are_said(void **state)
{
    double drifting[20], two_modes[20];
    struct lab_comparison c;
    char text[256];
    (void)state;
    for (size_t i = 0; i < 20; i++) {
        drifting[i] = 100 + (double)i + (double)(i % 3);
        two_modes[i] = (i % 2 == 0 ? 100 : 120) + (double)(i % 5) / 10;
    }
    assert_int_equal(lab_compare(drifting, 20, two_modes, 20, &rules, &c), 0);
    lab_comparison_warnings(&c, text, sizeof(text));
    assert_non_null(strstr(text, "A drifts by +"));
    assert_non_null(strstr(text, "; B has two modes, 1"));
    for (size_t i = 0; i < 20; i++)
        drifting[i] = 100 + (double)((i * 7) % 20) / 100;
    assert_int_equal(lab_compare(drifting, 20, drifting, 20, &rules, &c), 0);
    lab_comparison_warnings(&c, text, sizeof(text));
    assert_string_equal(text, "");
}

#define N_BLOCKS 40

/* A run of @n_variants variants whose difference is @plain in all but one of them. */
static void note_placement(double plain, double in_one, char *text, size_t room)
{
    static struct compare_config config;
    static struct compare_sample samples[3 * N_BLOCKS];
    struct compare_run run = {.config = &config, .samples = samples, .n_samples = 3 * N_BLOCKS, .n_blocks = N_BLOCKS};
    struct comparison_table t = {0};

    config.sides[0].label = "A";
    config.sides[1].label = "B";
    config.n_sides = 2;
    config.n_variants = 4;
    config.n_metrics = 1;
    config.rules = rules;
    for (unsigned i = 0; i < 3 * N_BLOCKS; i++) {
        const unsigned block = i / 3;
        const double factor = i % 3 == 1 ? (block % 4 == 2 ? in_one : plain) : 1;
        samples[i] = (struct compare_sample){.block = block, .side = i % 3, .variant = block % 4};
        samples[i].values[0] = factor * (100 + (double)((i * 7919) % 13) / 20);
    }
    assert_int_equal(comparison_table_add_run(&t, &run, false), 0);
    assert_int_equal(comparison_table_judge(&t), 0);
    assert_int_equal(t.n_rows, 1);
    comparison_row_placement(&t.rows[0], text, room);
    comparison_table_release(&t);
}

static void placement_is_said(void **state)
{
    char text[160];
    (void)state;
    note_placement(1, 1.04, text, sizeof(text));
    assert_non_null(strstr(text, "placement: the difference is "));
    assert_non_null(strstr(text, "% in 4 places of the same code"));
    note_placement(1.04, 1.04, text, sizeof(text));
    assert_string_equal(text, "");
    note_placement(1, 1, text, sizeof(text));
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_sides_are_the_same),
        cmocka_unit_test(three_per_cent_are_found),
        cmocka_unit_test(a_control_that_differs_is_not_trusted),
        cmocka_unit_test(words_say_what_was_found),
        cmocka_unit_test(drift_and_modes_are_said),
        cmocka_unit_test(placement_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
