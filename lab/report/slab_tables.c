/* SPDX-License-Identifier: MIT */
/* Owns the tables of a run of slab_test: plain text of about a hundred columns that survives mail.
 *
 * A table per test: sizes down, allocators across, the statistic chosen; then the same as ratios to
 * the best peer, their geometric mean and the worst row; the memory of the processes; slub's slow
 * paths.
 */
#include "report/slab_view.h"

#include "runner/lists.h"
#include "workloads/ticks.h"

#include <math.h>
#include <string.h>

#define MIB            (1024.0 * 1024.0)
#define WIDEST         100
#define FEWEST_SAMPLES 10 /* below, a minimum says little */

static const struct lab_config *config_of(const struct slab_view *v)
{
    return v->run->config;
}

static const char *operation(const struct slab_test *test, unsigned column)
{
    if (test->n_columns == 1)
        return "pair";
    return column == 0 ? "alloc" : "free";
}

static int column_width(const struct lab_config *c)
{
    size_t width = 8;
    for (size_t i = 0; i < c->n_allocators; i++) {
        const size_t n = strlen(c->allocators[i].label);
        width = n > width ? n : width;
    }
    return (int)width + 1;
}

static bool is_peer(const struct lab_allocator *a)
{
    return !a->is_control && !a->is_slub;
}

/* ---- the header ---------------------------------------------------------------------- */

static void print_allocator(const struct lab_config *c, const struct lab_allocator *a, FILE *out)
{
    fprintf(out, "  %-*s", column_width(c), a->label);
    if (a->is_control) {
        fprintf(out, "%s that do nothing: the cost of the call\n",
                c->api == LAB_API_SLUB ? "slub_alloc and slub_free" : "malloc and free");
        return;
    }
    fprintf(out, "%s", a->owner);
    if (a->version[0] != '\0')
        fprintf(out, " %s", a->version);
    if (a->percpu[0] != '\0')
        fprintf(out, ", mode %s, percpu %s by %s", a->mode, a->percpu, a->percpu_index);
    if (a->options != NULL)
        fprintf(out, ", options '%s'", a->options);
    fputc('\n', out);
}

void slab_print_header(const struct slab_view *v, FILE *out)
{
    const struct lab_config *c = config_of(v);
    const struct lab_machine *m = &v->run->machine;
    char cpus[128];

    lists_format_ids(c->cpus, c->n_cpus, cpus, sizeof(cpus));
    fprintf(out, "slab_test: %s, %llu objects, %llu repeats in %llu round%s, CPUs %s, seed %llu\n",
            c->api == LAB_API_SLUB ? "slub_alloc/slub_free" : "malloc/free",
            (unsigned long long)c->count, (unsigned long long)c->n_repeats,
            (unsigned long long)c->n_rounds, c->n_rounds == 1 ? "" : "s", cpus,
            (unsigned long long)c->seed);
    fprintf(out, "machine: %s%s, %u CPUs, %u node%s\n", m->cpu_model, m->is_guest ? " (guest)" : "",
            m->n_cpus, m->n_nodes, m->n_nodes == 1 ? "" : "s");
    fprintf(out, "kernel: %.90s\n", m->kernel);
    fprintf(out, "%s, THP %s, governor %s; 1 %s tick = %.4f ns%s\n", m->libc,
            m->thp[0] != '\0' ? m->thp : "unknown",
            m->governor[0] != '\0' ? m->governor : "unknown", TICKS_NAME, v->run->tick_ns,
            m->has_constant_clock ? "" : " (not constant!)");
    for (size_t i = 0; i < c->n_allocators; i++)
        print_allocator(c, &c->allocators[i], out);
    for (unsigned t = 0; t < SLAB_N_TESTS; t++) {
        const char *why = c->tests[t] ? lab_run_skips(c, (enum slab_test_id)t) : NULL;
        if (why != NULL)
            fprintf(out, "skipped: %s: %s\n", slab_tests[t].heading, why);
    }
    if (c->n_rounds * c->n_repeats < FEWEST_SAMPLES)
        fprintf(out, "note: fewer than %d samples a cell\n", FEWEST_SAMPLES);
}

/* ---- one table ------------------------------------------------------------------------- */

/* The cells of one table, computed once. */
struct grid {
    size_t n_sizes;
    double cell[LAB_MAX_ALLOCATORS][SLAB_MAX_SIZES];
    double ratio[LAB_MAX_ALLOCATORS][SLAB_MAX_SIZES];
};

enum { VALUES = 1, RATIOS = 2 }; /* parts of a table, side by side when they fit */

/* What a row's ratios divide by: the best peer, or the first allocator when there is no peer. */
static double baseline(const struct lab_config *c, const struct grid *g, size_t s)
{
    double best = 0;
    for (size_t a = 0; a < c->n_allocators; a++) {
        if (is_peer(&c->allocators[a]))
            best = best == 0 || g->cell[a][s] < best ? g->cell[a][s] : best;
    }
    return best == 0 && c->n_allocators > 1 ? g->cell[1][s] : best;
}

static void fill_grid(const struct slab_view *v, size_t k, unsigned column, struct grid *g)
{
    const struct lab_config *c = config_of(v);

    g->n_sizes = v->run->cases[k].n_sizes;
    for (size_t s = 0; s < g->n_sizes; s++) {
        for (size_t a = 0; a < c->n_allocators; a++)
            g->cell[a][s] = slab_view_cell(v, k, a, s, column);
        const double base = baseline(c, g, s);
        for (size_t a = 0; a < c->n_allocators; a++)
            g->ratio[a][s] = base > 0 ? g->cell[a][s] / base : 1;
    }
}

static void print_baseline_name(const struct lab_config *c, FILE *out)
{
    const char *separator = " ";
    size_t n_peers = 0;

    for (size_t a = 0; a < c->n_allocators; a++)
        n_peers += is_peer(&c->allocators[a]) ? 1 : 0;
    if (n_peers == 0) {
        fprintf(out, "ratio to %s", c->allocators[1].label);
        return;
    }
    fprintf(out, n_peers == 1 ? "ratio to" : "ratio to the best of");
    for (size_t a = 0; a < c->n_allocators; a++) {
        if (is_peer(&c->allocators[a])) {
            fprintf(out, "%s%s", separator, c->allocators[a].label);
            separator = ", ";
        }
    }
}

/* Where the second part begins. */
static void print_border(int parts, FILE *out)
{
    if (parts == (VALUES | RATIOS))
        fprintf(out, " |");
}

static void print_heads(const struct slab_view *v, size_t k, unsigned column, int parts, FILE *out)
{
    const struct lab_config *c = config_of(v);

    if (parts & VALUES)
        fprintf(out, "%s per %s, %s", v->in_ns ? "ns" : slab_view_tick_name(),
                operation(&slab_tests[v->run->cases[k].test], column), lab_stat_name(v->stat));
    if (parts == (VALUES | RATIOS))
        fprintf(out, " | ");
    if (parts & RATIOS)
        print_baseline_name(c, out);
    fprintf(out, "\n%8s", "size");
    for (size_t a = 0; a < c->n_allocators && (parts & VALUES); a++)
        fprintf(out, "%*s", column_width(c), c->allocators[a].label);
    print_border(parts, out);
    for (size_t a = 1; a < c->n_allocators && (parts & RATIOS); a++)
        fprintf(out, "%*s", column_width(c), c->allocators[a].label);
    fputc('\n', out);
}

/* "geomean" and "worst": rows of ratios only. */
static void print_foot(const struct lab_config *c, const struct grid *g, int parts, FILE *out)
{
    const int indent = parts & VALUES ? column_width(c) * (int)c->n_allocators : 0;

    fprintf(out, "%8s%*s", "geomean", indent, "");
    print_border(parts, out);
    for (size_t a = 1; a < c->n_allocators; a++)
        fprintf(out, "%*.3f", column_width(c), lab_geometric_mean(g->ratio[a], g->n_sizes));
    fprintf(out, "\n%8s%*s", "worst", indent, "");
    print_border(parts, out);
    for (size_t a = 1; a < c->n_allocators; a++) {
        double worst = 0;
        for (size_t s = 0; s < g->n_sizes; s++)
            worst = fmax(worst, g->ratio[a][s]);
        fprintf(out, "%*.2f", column_width(c), worst);
    }
    fputc('\n', out);
}

static void print_table(const struct slab_view *v, size_t k, unsigned column, const struct grid *g,
                        int parts, FILE *out)
{
    const struct lab_config *c = config_of(v);

    print_heads(v, k, column, parts, out);
    for (size_t s = 0; s < g->n_sizes; s++) {
        fprintf(out, "%8zu", v->run->cases[k].sizes[s]);
        for (size_t a = 0; a < c->n_allocators && (parts & VALUES); a++)
            fprintf(out, "%*.*f", column_width(c), v->in_ns ? 2 : 1, g->cell[a][s]);
        print_border(parts, out);
        for (size_t a = 1; a < c->n_allocators && (parts & RATIOS); a++)
            fprintf(out, "%*.2f", column_width(c), g->ratio[a][s]);
        fputc('\n', out);
    }
    if (parts & RATIOS)
        print_foot(c, g, parts, out);
}

static void print_column(const struct slab_view *v, size_t k, unsigned column, const struct grid *g,
                         FILE *out)
{
    const struct lab_config *c = config_of(v);
    const int columns = (int)c->n_allocators * 2 - 1;

    if (c->n_allocators <= 2) {
        print_table(v, k, column, g, VALUES, out);
    } else if (8 + columns * column_width(c) + 2 <= WIDEST) {
        print_table(v, k, column, g, VALUES | RATIOS, out);
    } else {
        print_table(v, k, column, g, VALUES, out);
        print_table(v, k, column, g, RATIOS, out);
    }
}

/* Six columns and a blank; a large value needs no decimals. */
static void print_stat(double value, int decimals, FILE *out)
{
    fprintf(out, " %6.*f", value >= 1000 ? 0 : value >= 100 ? 1 : decimals, value);
}

static void print_stats(const struct lab_summary *sum, double factor, int decimals, FILE *out)
{
    const double values[] = {sum->min, sum->median, sum->mean, sum->p99, sum->stddev};
    for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        print_stat(values[i] * factor, decimals, out);
}

static void print_all_stats(const struct slab_view *v, size_t k, FILE *out)
{
    static const char heads[] = "    min median   mean    p99 stddev";
    const struct lab_config *c = config_of(v);
    const struct lab_case *lab_case = &v->run->cases[k];
    const struct slab_test *test = &slab_tests[lab_case->test];
    struct lab_summary sum;

    fprintf(out, "%25s%-35s|  ns\n", "", slab_view_tick_name());
    fprintf(out, "%7s %-10s %-5s%s |%s\n", "size", "allocator", "op", heads, heads);
    for (unsigned column = 0; column < test->n_columns; column++) {
        for (size_t s = 0; s < lab_case->n_sizes; s++) {
            for (size_t a = 0; a < c->n_allocators; a++) {
                slab_view_summary(v, k, a, s, -1, column, &sum);
                fprintf(out, "%7zu %-10s %-5s", lab_case->sizes[s], c->allocators[a].label,
                        operation(test, column));
                print_stats(&sum, 1, 1, out);
                fprintf(out, " |");
                print_stats(&sum, v->run->tick_ns, 2, out);
                fputc('\n', out);
            }
        }
    }
}

/* ---- memory, slow paths, noise ------------------------------------------------------- */

static void print_memory(const struct slab_view *v, size_t k, FILE *out)
{
    static const char *const rows[] = {"start", "end", "idle", "peak"};
    const struct lab_config *c = config_of(v);
    struct slab_memory memory[LAB_MAX_ALLOCATORS];
    double idle_s = 0;

    for (size_t a = 0; a < c->n_allocators; a++) {
        slab_view_memory(v, k, a, &memory[a]);
        idle_s = idle_s == 0 || memory[a].idle_s < idle_s ? memory[a].idle_s : idle_s;
    }
    fprintf(out, "RSS of the process, MiB, median of rounds; idle: after %.0f s without a call\n",
            floor(idle_s));
    for (unsigned row = 0; row < 4; row++) {
        fprintf(out, "%8s", rows[row]);
        for (size_t a = 0; a < c->n_allocators; a++) {
            const double values[] = {memory[a].start, memory[a].end, memory[a].idle,
                                     memory[a].peak};
            fprintf(out, "%*.2f", column_width(c), values[row] / MIB);
        }
        fputc('\n', out);
    }
}

static void print_share(const struct slab_view *v, size_t k, size_t a, size_t s,
                        enum slub_stat stat, FILE *out)
{
    uint64_t value;
    const uint64_t calls = slab_view_calls(v, k, a, s);
    if (slab_view_counter(v, k, a, s, stat, &value) && calls > 0)
        fprintf(out, "%11.4f", 100.0 * (double)value / (double)calls);
    else
        fprintf(out, "%11s", "-");
}

static void print_count(const struct slab_view *v, size_t k, size_t a, size_t s,
                        enum slub_stat stat, FILE *out)
{
    uint64_t value;
    if (slab_view_counter(v, k, a, s, stat, &value))
        fprintf(out, "%11llu", (unsigned long long)value);
    else
        fprintf(out, "%11s", "-");
}

static void print_slow_paths(const struct slab_view *v, size_t k, size_t a, FILE *out)
{
    const struct lab_case *lab_case = &v->run->cases[k];
    uint64_t ignored;

    if (!slab_view_counter(v, k, a, 0, SLUB_STAT_ALLOC_SLOWPATH, &ignored))
        return;
    fprintf(out, "slow paths of %s: %% of the calls, %% of objects moved, slabs in all\n",
            config_of(v)->allocators[a].label);
    fprintf(out, "%8s%11s%11s%11s%11s%11s%11s%11s%11s\n", "size", "alloc slow", "free slow",
            "refilled", "flushed", "barn get", "barn fail", "slab new", "slab reuse");
    for (size_t s = 0; s < lab_case->n_sizes; s++) {
        fprintf(out, "%8zu", lab_case->sizes[s]);
        print_share(v, k, a, s, SLUB_STAT_ALLOC_SLOWPATH, out);
        print_share(v, k, a, s, SLUB_STAT_FREE_SLOWPATH, out);
        print_share(v, k, a, s, SLUB_STAT_SHEAF_REFILL, out);
        print_share(v, k, a, s, SLUB_STAT_SHEAF_FLUSH, out);
        print_share(v, k, a, s, SLUB_STAT_BARN_GET, out);
        print_share(v, k, a, s, SLUB_STAT_BARN_GET_FAIL, out);
        print_count(v, k, a, s, SLUB_STAT_SLAB_NEW, out);
        print_count(v, k, a, s, SLUB_STAT_SLAB_REUSE, out);
        fputc('\n', out);
    }
}

/* The same allocator twice: how far its two columns are apart is what no ratio can undercut. */
static bool print_noise(const struct slab_view *v, const struct grid *g, FILE *out)
{
    const struct lab_config *c = config_of(v);
    bool printed = false;

    for (size_t a = 1; a < c->n_allocators; a++) {
        for (size_t b = a + 1; b < c->n_allocators; b++) {
            double ratios[SLAB_MAX_SIZES];
            double largest = 0;
            if (strcmp(c->allocators[a].spec, c->allocators[b].spec) != 0)
                continue;
            for (size_t s = 0; s < g->n_sizes; s++) {
                ratios[s] = g->ratio[a][s] > 0 ? g->ratio[b][s] / g->ratio[a][s] : 1;
                largest = fmax(largest, fabs(ratios[s] - 1));
            }
            fprintf(out,
                    "A/A: %s and %s are the same: apart by %.1f %% at most, %.1f %% in geomean\n",
                    c->allocators[a].label, c->allocators[b].label, 100 * largest,
                    100 * fabs(lab_geometric_mean(ratios, g->n_sizes) - 1));
            printed = true;
        }
    }
    return printed;
}

void slab_print_tables(const struct slab_view *v, FILE *out)
{
    const struct lab_config *c = config_of(v);
    const bool compares = c->n_allocators > 2;
    bool has_noise = false;

    for (size_t k = 0; k < v->run->n_cases; k++) {
        const struct lab_case *lab_case = &v->run->cases[k];
        const struct slab_test *test = &slab_tests[lab_case->test];

        fprintf(out, "%s%s", k == 0 ? "" : "\n", test->heading);
        if (test->lanes != SLAB_LANES_ONE)
            fprintf(out, ": %s, %u thread%s", test->label, lab_case->n_threads,
                    lab_case->n_threads == 1 ? "" : "s");
        fprintf(out, " (%s)\n%s\n", test->name, test->help);
        if (v->all_stats)
            print_all_stats(v, k, out);
        for (unsigned column = 0; column < test->n_columns && !v->all_stats; column++) {
            static struct grid grid;
            fill_grid(v, k, column, &grid);
            print_column(v, k, column, &grid, out);
            has_noise |= print_noise(v, &grid, out);
        }
        print_memory(v, k, out);
        for (size_t a = 0; a < c->n_allocators; a++)
            print_slow_paths(v, k, a, out);
    }
    if (compares && !v->all_stats && !has_noise)
        fprintf(out,
                "\nnote: name an allocator twice to see the noise (A/A); smaller differences mean "
                "nothing\n");
}
