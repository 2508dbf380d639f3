/* SPDX-License-Identifier: MIT */
/* Two series of one quantity, all that is said of them, and the verdict in words. */
#ifndef SLUB_LAB_COMPARISON_H
#define SLUB_LAB_COMPARISON_H

#include "stats/bootstrap.h"
#include "stats/shape.h"
#include "stats/summary.h"
#include "stats/two_sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Least values of a side for a verdict: fewer cannot reach an error probability of 1 %. */
#define LAB_LEAST_RUNS 10

enum lab_better { LAB_LESS_IS_BETTER, LAB_MORE_IS_BETTER };

enum lab_verdict {
    LAB_VERDICT_BETTER, /* B is: "faster", "less" */
    LAB_VERDICT_WORSE,
    LAB_VERDICT_SAME,     /* no difference above the one that is of interest */
    LAB_VERDICT_OPEN,     /* cannot tell yet */
    LAB_VERDICT_UNTRUSTED /* A differs from itself: nothing can be told */
};

struct lab_rules {
    double alpha;     /* probability to call two equal sides different: 0.01 */
    double threshold; /* relative difference of interest: 0.02 */
    bool is_paired;   /* a[i] and b[i] were measured together */
    uint64_t seed;    /* of what is resampled or simulated */
};

struct lab_comparison {
    struct lab_summary a, b;
    double ratio; /* median of B to median of A */
    struct lab_interval interval; /* of it, with probability 1 - alpha */
    struct lab_test test;         /* this one decides: randomisation within the pairs, or Mann-Whitney */
    struct lab_test rank_test;    /* Wilcoxon's signed ranks of the pairs, or Mann-Whitney */
    struct lab_test mean_test;    /* t of the pairs, or Welch */
    double p_holm;                /* of test, corrected over the table; lab_comparisons_judge() */
    double cliff_delta, hedges_g;
    double detectable;  /* relative difference that so many runs show */
    size_t runs_needed; /* of each side, for a difference of the threshold */
    struct lab_drift drift_a, drift_b;
    struct lab_modes modes_a, modes_b;
    bool has_control; /* A was measured twice */
    struct lab_test control_test;
    double control_ratio;
    enum lab_verdict verdict;
};

/* All but p_holm and verdict. Series in the order of measuring; paired ones are of one length. 0, or -ENOMEM. */
int lab_compare(const double *a, size_t na, const double *b, size_t nb, const struct lab_rules *rules,
                struct lab_comparison *out);

/* A against A: what the run finds between two equal sides. */
int lab_compare_control(const double *a, size_t na, const double *again, size_t n_again, const struct lab_rules *rules,
                        struct lab_comparison *out);

/* Corrects the p-values over the whole table, then gives every row its verdict. 0, or -ENOMEM. */
int lab_comparisons_judge(struct lab_comparison *const *rows, const enum lab_better *better, size_t n,
                          const struct lab_rules *rules);

/* Whether the interval of the ratio is narrow enough to stop measuring: no wider than the threshold. It is never asked
 * on which side of 1 the interval lies, so stopping here does not favour a difference. 1, 0, or -ENOMEM.
 * @width: of the interval; untouched while there are too few values. NULL when not wanted. */
int lab_is_narrow(const double *a, size_t na, const double *b, size_t nb, const struct lab_rules *rules,
                  double *width);

/* "slower by 3.1 % (2.2 to 4.0 %)", "no difference above 1.3 %", "cannot tell yet (needs about 40 runs)".
 * @better_word and @worse_word: "faster" and "slower", "less" and "more". */
void lab_verdict_words(const struct lab_comparison *c, const char *better_word, const char *worse_word,
                       const struct lab_rules *rules, char *text, size_t room);

/* What else has to be said of the series (drift, modes, a control that differs): one line, or "". */
void lab_comparison_warnings(const struct lab_comparison *c, char *text, size_t room);

#endif
