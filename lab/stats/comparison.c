/* SPDX-License-Identifier: MIT */
/* Owns the judgement of two series.
 *
 * A difference counts when the test that was chosen before (by the design of the run: paired or not) finds it, after
 * Holm's correction over the table, and the interval of the ratio does not hold 1. Without one, the interval says how
 * large a difference can still be: when that is below what is of interest, the sides are the same; when not, more runs
 * are needed. When A differs from A, the machine or the runner is at fault and no row is trusted.
 */
#include "stats/comparison.h"

#include "stats/power.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A control is looked at in every run and must hardly ever be wrong. */
#define CONTROL_ALPHA 0.001
#define SHAPE_ALPHA   0.01
/* Both in parts of the median: what is smaller is true, and does not matter. */
#define LEAST_DRIFT 0.01
#define LEAST_MODES 0.01

static int summarize(const double *values, size_t n, struct lab_summary *out)
{
    double *copy = malloc((n + 1) * sizeof(copy[0]));
    if (copy == NULL)
        return -ENOMEM;
    memcpy(copy, values, n * sizeof(copy[0]));
    lab_summarize(copy, n, out);
    free(copy);
    return 0;
}

/* The noise that decides how many runs are needed: of the ratios of pairs, as if each side had its share of it, or of
 * the noisier side. */
static int measure_noise(const double *a, size_t na, const double *b, size_t nb, bool is_paired, double *noise)
{
    if (!is_paired) {
        const double noise_a = lab_relative_noise(a, na);
        const double noise_b = lab_relative_noise(b, nb);
        *noise = fmax(noise_a, noise_b);
        return noise_a < 0 || noise_b < 0 ? -ENOMEM : 0;
    }
    double *ratios = malloc((na + 1) * sizeof(ratios[0]));
    if (ratios == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < na; i++)
        ratios[i] = a[i] == 0 ? 1 : b[i] / a[i];
    *noise = lab_relative_noise(ratios, na) / sqrt(2);
    free(ratios);
    return *noise < 0 ? -ENOMEM : 0;
}

static int test_ranks(const double *a, size_t na, const double *b, size_t nb, bool is_paired, struct lab_test *out)
{
    return is_paired ? lab_wilcoxon(a, b, na, out) : lab_mann_whitney(a, na, b, nb, out);
}

static int test_sides(const double *a, size_t na, const double *b, size_t nb, const struct lab_rules *rules,
                      struct lab_test *out)
{
    return rules->is_paired ? lab_swap_test(a, b, na, rules->seed, out) : lab_mann_whitney(a, na, b, nb, out);
}

int lab_compare(const double *a, size_t na, const double *b, size_t nb, const struct lab_rules *rules,
                struct lab_comparison *out)
{
    double noise = 0;
    int err;

    memset(out, 0, sizeof(*out));
    if ((err = summarize(a, na, &out->a)) != 0 || (err = summarize(b, nb, &out->b)) != 0 ||
        (err = test_sides(a, na, b, nb, rules, &out->test)) != 0 ||
        (err = test_ranks(a, na, b, nb, rules->is_paired, &out->rank_test)) != 0 ||
        (err = lab_find_drift(a, na, &out->drift_a)) != 0 || (err = lab_find_drift(b, nb, &out->drift_b)) != 0 ||
        (err = lab_find_modes(a, na, rules->seed, &out->modes_a)) != 0 ||
        (err = lab_find_modes(b, nb, rules->seed, &out->modes_b)) != 0 ||
        (err = measure_noise(a, na, b, nb, rules->is_paired, &noise)) != 0)
        return err;
    if (rules->is_paired)
        lab_paired_t(a, b, na, &out->mean_test);
    else
        lab_welch(a, na, b, nb, &out->mean_test);
    out->p_holm = out->test.p;
    out->cliff_delta = lab_cliff_delta(a, na, b, nb);
    out->hedges_g = lab_hedges_g(a, na, b, nb);
    out->detectable = lab_detectable(noise, na < nb ? na : nb, rules->alpha);
    out->runs_needed = lab_runs_needed(noise, rules->threshold, rules->alpha);
    out->ratio = out->a.median == 0 ? (out->b.median == 0 ? 1 : INFINITY) : out->b.median / out->a.median;
    out->interval = (struct lab_interval){out->ratio, out->ratio};
    out->verdict = LAB_VERDICT_OPEN;
    if (na == 0 || nb == 0 || !(out->a.min > 0))
        return 0;
    return lab_bootstrap_ratio(a, na, b, nb, rules->is_paired, 1 - rules->alpha, rules->seed, &out->interval);
}

int lab_compare_control(const double *a, size_t na, const double *again, size_t n_again, const struct lab_rules *rules,
                        struct lab_comparison *out)
{
    struct lab_summary first;
    struct lab_summary second;
    int err;

    if ((err = summarize(a, na, &first)) != 0 || (err = summarize(again, n_again, &second)) != 0)
        return err;
    out->has_control = true;
    out->control_ratio = first.median == 0 ? 1 : second.median / first.median;
    return test_sides(a, na, again, n_again, rules, &out->control_test);
}

/* The largest relative difference that the interval still allows. */
static double still_possible(const struct lab_comparison *c)
{
    return fmax(fabs(c->interval.low - 1), fabs(c->interval.high - 1));
}

static enum lab_verdict judge(const struct lab_comparison *c, enum lab_better better, const struct lab_rules *rules)
{
    const bool is_apart = c->interval.low > 1 || c->interval.high < 1;
    const bool is_less = c->ratio < 1;

    if (c->has_control && c->control_test.p < CONTROL_ALPHA)
        return LAB_VERDICT_UNTRUSTED;
    if (c->a.n < LAB_LEAST_RUNS || c->b.n < LAB_LEAST_RUNS)
        return LAB_VERDICT_OPEN;
    if (is_apart && c->p_holm < rules->alpha)
        return is_less == (better == LAB_LESS_IS_BETTER) ? LAB_VERDICT_BETTER : LAB_VERDICT_WORSE;
    return still_possible(c) <= rules->threshold ? LAB_VERDICT_SAME : LAB_VERDICT_OPEN;
}

int lab_comparisons_judge(struct lab_comparison *const *rows, const enum lab_better *better, size_t n,
                          const struct lab_rules *rules)
{
    double *p = malloc((n + 1) * sizeof(p[0]));

    if (p == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        p[i] = rows[i]->test.p;
    const int err = lab_holm(p, n);
    for (size_t i = 0; i < n && err == 0; i++) {
        rows[i]->p_holm = p[i];
        rows[i]->verdict = judge(rows[i], better[i], rules);
    }
    free(p);
    return err;
}

int lab_is_narrow(const double *a, size_t na, const double *b, size_t nb, const struct lab_rules *rules,
                  double *width)
{
    struct lab_interval interval;

    if (na < LAB_LEAST_RUNS || nb < LAB_LEAST_RUNS)
        return 0;
    const int err = lab_bootstrap_ratio(a, na, b, nb, rules->is_paired, 1 - rules->alpha, rules->seed, &interval);
    if (err != 0)
        return err;
    if (width != NULL)
        *width = interval.high - interval.low;
    return interval.high - interval.low <= rules->threshold;
}

/* Two digits, and no more than the figure has: "3.1", "25", "254". */
static const char *percent(double part, char *text, size_t room)
{
    const double v = 100 * fabs(part);
    snprintf(text, room, v >= 10 ? "%.0f" : "%.2g", v);
    return text;
}

static void name_difference(const struct lab_comparison *c, const char *word, char *text, size_t room)
{
    const bool is_less = c->ratio < 1;
    const double near = is_less ? c->interval.high : c->interval.low;
    const double far = is_less ? c->interval.low : c->interval.high;
    char is[16], from[16], to[16];

    snprintf(text, room, "%s by %s %% (%s to %s %%)", word, percent(c->ratio - 1, is, sizeof(is)),
             percent(near - 1, from, sizeof(from)), percent(far - 1, to, sizeof(to)));
}

void lab_verdict_words(const struct lab_comparison *c, const char *better_word, const char *worse_word,
                       const struct lab_rules *rules, char *text, size_t room)
{
    const size_t n = c->a.n < c->b.n ? c->a.n : c->b.n;

    switch (c->verdict) {
    case LAB_VERDICT_BETTER:
    case LAB_VERDICT_WORSE:
        name_difference(c, c->verdict == LAB_VERDICT_BETTER ? better_word : worse_word, text, room);
        return;
    case LAB_VERDICT_SAME:
        snprintf(text, room, "no difference above %.2g %%", fmax(100 * still_possible(c), 0.01));
        return;
    case LAB_VERDICT_UNTRUSTED:
        snprintf(text, room, "cannot tell: A differs from itself by %.2g %%", 100 * fabs(c->control_ratio - 1));
        return;
    default:
        break;
    }
    size_t needed = c->runs_needed > LAB_LEAST_RUNS ? c->runs_needed : LAB_LEAST_RUNS;
    if (needed <= n) /* the plan knows the noise only roughly; the interval is what counts */
        needed = (size_t)ceil((double)n * pow(fmax(still_possible(c) / rules->threshold, 1.1), 2));
    snprintf(text, room, "cannot tell yet (needs about %zu runs)", needed);
}

static void say(char *text, size_t room, const char *format, const char *side, double value)
{
    const size_t used = strlen(text);
    if (used + 3 < room) {
        memcpy(text + used, "; ", used == 0 ? 1 : 3);
        char *at = text + (used == 0 ? 0 : used + 2);
        snprintf(at, room - (size_t)(at - text), format, side, value);
    }
}

static void warn_of_side(const char *side, const struct lab_summary *s, const struct lab_drift *drift,
                         const struct lab_modes *modes, char *text, size_t room)
{
    if (drift->p < SHAPE_ALPHA && fabs(drift->relative_change) >= LEAST_DRIFT)
        say(text, room, "%s drifts by %+.2g %% over the run", side, 100 * drift->relative_change);
    if (modes->p < SHAPE_ALPHA && s->median != 0 && (modes->high - modes->low) / fabs(s->median) >= LEAST_MODES)
        say(text, room, "%s has two modes, %.2g %% apart", side, 100 * (modes->high - modes->low) / fabs(s->median));
}

void lab_comparison_warnings(const struct lab_comparison *c, char *text, size_t room)
{
    text[0] = '\0';
    warn_of_side("A", &c->a, &c->drift_a, &c->modes_a, text, room);
    warn_of_side("B", &c->b, &c->drift_b, &c->modes_b, text, room);
}
