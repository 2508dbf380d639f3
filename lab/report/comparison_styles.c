/* SPDX-License-Identifier: MIT */
/* Owns the printed shapes of a table of comparisons. */
#include "report/comparison_styles.h"

#include "runner/metrics.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static double change_percent(double a, double b)
{
    return a == 0 ? (b == 0 ? 0 : INFINITY) : 100 * (b - a) / a;
}

/* Prints the group of a row when it is another than that of the row before. */
static bool begins_group(const struct comparison_table *t, size_t i)
{
    return i == 0 || strcmp(t->rows[i].group, t->rows[i - 1].group) != 0;
}

static int name_width(const struct comparison_table *t, int least)
{
    int width = least;
    for (size_t i = 0; i < t->n_rows; i++) {
        const int n = (int)strlen(t->rows[i].name);
        width = n > width ? n : width;
    }
    return width;
}

/* ---- verdict --------------------------------------------------------------------------------- */

static void print_verdicts(const struct comparison_table *t, enum lab_stat stat, FILE *out)
{
    const int width = name_width(t, 6);
    char a[32], b[32], interval[48], verdict[160], warnings[320];

    for (size_t i = 0; i < t->n_rows; i++) {
        const struct comparison_row *r = &t->rows[i];
        const struct lab_comparison *c = &r->comparison;
        if (begins_group(t, i))
            fprintf(out, "%s%s%s%-*s %15.15s %15.15s %9s %22s %8s  %s\n", i == 0 ? "" : "\n", r->group,
                    r->group[0] != '\0' ? "\n" : "", width, lab_stat_name(stat), t->a_label, r->side,
                    "change", "interval", "p", "verdict");
        lab_metric_format(r->unit, lab_summary_value(&c->a, stat), a, sizeof(a));
        lab_metric_format(r->unit, lab_summary_value(&c->b, stat), b, sizeof(b));
        snprintf(interval, sizeof(interval), "%+.2f to %+.2f %%", 100 * (c->interval.low - 1),
                 100 * (c->interval.high - 1));
        comparison_row_verdict(t, r, verdict, sizeof(verdict));
        fprintf(out, "%-*s %15s %15s %+7.2f %% %22s %8.2g  %s\n", width, r->name, a, b,
                change_percent(lab_summary_value(&c->a, stat), lab_summary_value(&c->b, stat)), interval, c->p_holm,
                verdict);
        lab_comparison_warnings(c, warnings, sizeof(warnings));
        if (warnings[0] != '\0')
            fprintf(out, "%-*s note: %s\n", width, "", warnings);
        comparison_row_placement(r, warnings, sizeof(warnings));
        if (warnings[0] != '\0')
            fprintf(out, "%-*s note: %s\n", width, "", warnings);
    }
}

/* ---- the table of 2023: LABEL COUNT MIN MAX MEAN MEDIAN STDDEV DIRECTION ----------------------- */

static void print_line(int width, FILE *out)
{
    static const int columns[] = {7, 14, 14, 14, 14, 12, 15};
    fputc('+', out);
    for (int i = 0; i < width + 2; i++)
        fputc('-', out);
    for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
        fputc('+', out);
        for (int i = 0; i < columns[k] + 2; i++)
            fputc('-', out);
    }
    fputs("+\n", out);
}

static void print_side(const char *letter, const char *label, const struct lab_summary *s, int width, FILE *out)
{
    fprintf(out, "| (%s) %-*.*s | %7zu | %14.6g | %14.6g | %14.6g | %14.6g | %12.6g | %15s |\n", letter, width - 4,
            width - 4, label, s->n, s->min, s->max, s->mean, s->median, s->stddev, "");
}

static void print_change(const struct comparison_row *r, int width, FILE *out)
{
    const struct lab_summary *a = &r->comparison.a;
    const struct lab_summary *b = &r->comparison.b;
    /* A quantity in nobody's interest either way has no direction; here each has one. */
    const char *direction = r->better == LAB_LESS_IS_BETTER ? "- is good" : "+ is good";
    fprintf(out, "| %-*s | %7s | %+13.2f%% | %+13.2f%% | %+13.2f%% | %+13.2f%% | %+11.2f%% | %15s |\n", width, "", "",
            change_percent(a->min, b->min), change_percent(a->max, b->max), change_percent(a->mean, b->mean),
            change_percent(a->median, b->median), change_percent(a->stddev, b->stddev), direction);
}

static void print_group_table(const struct comparison_table *t, enum lab_stat stat, FILE *out)
{
    const int width = name_width(t, 24) + 8;
    char name[256];

    (void)stat;
    print_line(width, out);
    fprintf(out, "| %-*s | %7s | %14s | %14s | %14s | %14s | %12s | %15s |\n", width, "LABEL", "COUNT", "MIN", "MAX",
            "MEAN", "MEDIAN", "STDDEV", "DIRECTION");
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct comparison_row *r = &t->rows[i];
        if (begins_group(t, i))
            print_line(width, out);
        snprintf(name, sizeof(name), "%s%s%s [%s]", r->group, r->group[0] != '\0' ? " " : "", r->name, r->unit);
        fprintf(out, "| %-*.*s | %7s | %14s | %14s | %14s | %14s | %12s | %15s |\n", width, width, name, "", "", "", "",
                "", "", "");
        print_side("A", t->a_label, &r->comparison.a, width, out);
        print_side("B", r->side, &r->comparison.b, width, out);
        print_change(r, width, out);
    }
    print_line(width, out);
}

/* ---- the tables of 2016 and 2022, a line per size ---------------------------------------------- */

static void print_percent(const struct comparison_table *t, enum lab_stat stat, FILE *out)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct comparison_row *r = &t->rows[i];
        const double a = lab_summary_value(&r->comparison.a, stat);
        const double b = lab_summary_value(&r->comparison.b, stat);
        const bool is_new = begins_group(t, i) || strcmp(t->rows[i - 1].op, r->op) != 0;
        if (is_new)
            fprintf(out, "%s%s%s%s%s,before,after (percent)\n", i == 0 ? "" : "\n", r->group,
                    r->group[0] != '\0' ? " " : "", r->op[0] != '\0' ? r->op : "",
                    r->size_bytes > 0 ? (r->op[0] != '\0' ? ", size" : "size") : "name");
        if (r->size_bytes > 0)
            fprintf(out, "%zu", r->size_bytes);
        else
            fprintf(out, "%s", r->name);
        fprintf(out, ",%.2f,%.2f (%.2f %%)\n", a, b, a == 0 ? 100 : 100 * b / a);
    }
}

static const struct comparison_row *find_op(const struct comparison_table *t, const struct comparison_row *like,
                                            const char *op)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct comparison_row *r = &t->rows[i];
        if (strcmp(r->group, like->group) == 0 && r->size_bytes == like->size_bytes && strcmp(r->op, op) == 0)
            return r;
    }
    return NULL;
}

static void print_kmalloc(const struct comparison_table *t, enum lab_stat stat, FILE *out)
{
    size_t n = 0;
    const char *group = NULL;

    for (size_t i = 0; i < t->n_rows; i++) {
        const struct comparison_row *r = &t->rows[i];
        const struct comparison_row *f = strcmp(r->op, "alloc") == 0 ? find_op(t, r, "free") : NULL;
        if (f == NULL)
            continue;
        if (group == NULL || strcmp(group, r->group) != 0)
            fprintf(out, "%s%s\n%-8s %19s %19s   %s\n", n == 0 ? "" : "\n", r->group, "size", t->a_label,
                    r->side, r->unit);
        group = r->group;
        fprintf(out, "%-8zu %9.0f/%-9.0f %9.0f/%-9.0f   kmalloc/kfree\n", r->size_bytes,
                lab_summary_value(&r->comparison.a, stat), lab_summary_value(&f->comparison.a, stat),
                lab_summary_value(&r->comparison.b, stat), lab_summary_value(&f->comparison.b, stat));
        n++;
    }
    if (n == 0)
        fprintf(out, "no row has both alloc and free: this style is for results of slab_test\n");
}

/* ---- "name: mean +- % [ change ]", of 2012 ------------------------------------------------------- */

static void print_spread_of(const char *label, const char *unit, const struct lab_summary *s, FILE *out)
{
    char mean[32];
    lab_metric_format(unit, s->mean, mean, sizeof(mean));
    fprintf(out, "  %-20s: %15s +- %5.2f %%", label, mean, lab_summary_spread_percent(s));
}

static void print_spread(const struct comparison_table *t, enum lab_stat stat, FILE *out)
{
    (void)stat;
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct comparison_row *r = &t->rows[i];
        fprintf(out, "%s%s%s%s\n", i == 0 ? "" : "\n", r->group, r->group[0] != '\0' ? " " : "", r->name);
        print_spread_of(t->a_label, r->unit, &r->comparison.a, out);
        fputc('\n', out);
        print_spread_of(r->side, r->unit, &r->comparison.b, out);
        fprintf(out, "  [ %+.2f %% ]\n", change_percent(r->comparison.a.mean, r->comparison.b.mean));
    }
}

/* ---- perf stat ------------------------------------------------------------------------------------ */

static const struct lab_summary *find_metric(const struct comparison_table *t, size_t from, const char *name, bool of_b)
{
    for (size_t i = from; i < t->n_rows && strcmp(t->rows[i].group, t->rows[from].group) == 0; i++) {
        if (strcmp(t->rows[i].name, name) == 0)
            return of_b ? &t->rows[i].comparison.b : &t->rows[i].comparison.a;
    }
    return NULL;
}

static void print_perf_side(const struct comparison_table *t, size_t from, bool of_b, FILE *out)
{
    static const struct {
        const char *metric, *event;
    } counters[] = {{"switches", "context-switches"}, {NULL, "cpu-migrations"},
                    {"faults", "page-faults"},        {NULL, "cycles"},
                    {NULL, "stalled-cycles-frontend"}, {NULL, "stalled-cycles-backend"},
                    {NULL, "instructions"},           {NULL, "branches"},
                    {NULL, "branch-misses"}};
    const struct lab_summary *cpu = find_metric(t, from, "cpu", of_b);
    const struct lab_summary *time = find_metric(t, from, "time", of_b);
    const struct lab_summary *first = of_b ? &t->rows[from].comparison.b : &t->rows[from].comparison.a;

    fprintf(out, " Performance counter stats for '%s' (%zu runs):\n\n",
            of_b ? t->rows[from].side : t->a_label, first->n);
    if (cpu != NULL && time != NULL)
        fprintf(out, "%20.6f task-clock                #  %8.3f CPUs utilized            ( +- %5.2f%% )\n",
                cpu->mean / 1e6, time->mean > 0 ? cpu->mean / time->mean : 0, lab_summary_spread_percent(cpu) / 2);
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        const struct lab_summary *s =
            counters[i].metric != NULL ? find_metric(t, from, counters[i].metric, of_b) : NULL;
        if (s == NULL)
            fprintf(out, "%20s %s\n", "<not supported>", counters[i].event);
        else
            fprintf(out, "%20.0f %-25s #  %8.3f K/sec                    ( +- %5.2f%% )\n", s->mean, counters[i].event,
                    cpu != NULL && cpu->mean > 0 ? s->mean / cpu->mean * 1e6 : 0, lab_summary_spread_percent(s) / 2);
    }
    if (time != NULL)
        fprintf(out, "\n%20.9f seconds time elapsed                                          ( +- %5.2f%% )\n\n",
                time->mean / 1e9, lab_summary_spread_percent(time) / 2);
}

static void print_perf(const struct comparison_table *t, enum lab_stat stat, FILE *out)
{
    (void)stat;
    for (size_t i = 0; i < t->n_rows; i++) {
        if (!begins_group(t, i))
            continue;
        if (i == 0)
            print_perf_side(t, i, false, out);
        print_perf_side(t, i, true, out);
    }
}

/* ---- benchstat -------------------------------------------------------------------------------------- */

/* As benchstat does: how far the farthest value is from the middle. */
static double farthest_percent(const struct lab_summary *s)
{
    return s->median == 0 ? 0 : 100 * fmax(s->max - s->median, s->median - s->min) / fabs(s->median);
}

static void print_benchstat(const struct comparison_table *t, enum lab_stat stat, FILE *out)
{
    const int width = name_width(t, 4);
    char a[32], b[32], delta[32];

    (void)stat;
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct comparison_row *r = &t->rows[i];
        const struct lab_comparison *c = &r->comparison;
        if (begins_group(t, i))
            fprintf(out, "%s%s%s%-*s  %23s  %23s  %s\n", i == 0 ? "" : "\n", r->group, r->group[0] != '\0' ? "\n" : "",
                    width, "name", t->a_label, r->side, "delta");
        lab_metric_format(r->unit, c->a.median, a, sizeof(a));
        lab_metric_format(r->unit, c->b.median, b, sizeof(b));
        snprintf(delta, sizeof(delta), "%+.2f%%", change_percent(c->a.median, c->b.median));
        fprintf(out, "%-*s  %15s +- %3.0f%%  %15s +- %3.0f%%  %s  (p=%.3f n=%zu+%zu)\n", width, r->name, a,
                farthest_percent(&c->a), b, farthest_percent(&c->b), c->p_holm < t->rules.alpha ? delta : "~",
                c->p_holm, c->a.n, c->b.n);
    }
}

/* ---- csv ---------------------------------------------------------------------------------------------- */

static void print_quoted(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_csv_side(const struct lab_summary *s, FILE *out)
{
    fprintf(out, ",%zu,%.10g,%.10g,%.10g,%.10g,%.10g", s->n, s->min, s->max, s->mean, s->median, s->stddev);
}

static void print_csv(const struct comparison_table *t, enum lab_stat stat, FILE *out)
{
    char verdict[160];

    (void)stat;
    fputs("group,name,unit,better", out);
    for (const char *side = "ab"; *side != '\0'; side++)
        fprintf(out, ",%c_count,%c_min,%c_max,%c_mean,%c_median,%c_stddev", *side, *side, *side, *side, *side, *side);
    fputs(",ratio,low,high,p,p_corrected,p_ranks,p_means,cliff_delta,hedges_g,control_ratio,control_p,verdict\n", out);
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct comparison_row *r = &t->rows[i];
        const struct lab_comparison *c = &r->comparison;
        print_quoted(r->group, out);
        fputc(',', out);
        print_quoted(r->name, out);
        fprintf(out, ",%s,%s", r->unit, r->better == LAB_LESS_IS_BETTER ? "less" : "more");
        print_csv_side(&c->a, out);
        print_csv_side(&c->b, out);
        fprintf(out, ",%.8g,%.8g,%.8g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,", c->ratio, c->interval.low, c->interval.high,
                c->test.p, c->p_holm, c->rank_test.p, c->mean_test.p, c->cliff_delta, c->hedges_g);
        if (c->has_control)
            fprintf(out, "%.8g,%.4g,", c->control_ratio, c->control_test.p);
        else
            fputs(",,", out);
        comparison_row_verdict(t, r, verdict, sizeof(verdict));
        print_quoted(verdict, out);
        fputc('\n', out);
    }
}

const struct comparison_style comparison_styles[] = {
    {"verdict", "both sides, the change, its interval and the verdict in words", print_verdicts},
    {"table", "LABEL COUNT MIN MAX MEAN MEDIAN STDDEV DIRECTION, rows (A), (B) and the change", print_group_table},
    {"percent", "size,before,after (percent)", print_percent},
    {"kmalloc", "kmalloc/kfree before and after, a line per size (results of slab_test)", print_kmalloc},
    {"spread", "name: mean +- % [ change ], at two sigma", print_spread},
    {"perf", "as perf stat prints both sides", print_perf},
    {"benchstat", "as benchstat does", print_benchstat},
    {"csv", "every figure, comma-separated", print_csv},
};
const size_t n_comparison_styles = sizeof(comparison_styles) / sizeof(comparison_styles[0]);

const struct comparison_style *comparison_style_find(const char *name)
{
    for (size_t i = 0; i < n_comparison_styles; i++) {
        if (strcmp(comparison_styles[i].name, name) == 0)
            return &comparison_styles[i];
    }
    return NULL;
}
