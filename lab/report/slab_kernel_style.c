/* SPDX-License-Identifier: MIT */
/* Owns the lines of the kernel's slab_test module, so that scripts written for it read ours.
 *
 * Numbers are whole cycles per operation, the mean of the repeats unless another statistic was
 * asked for; "Average" is the sum over CPUs divided by their number, idle ones included.
 */
#include "report/slab_view.h"

#include <math.h>
#include <string.h>

static long whole(const struct slab_view *v, size_t k, size_t a, size_t s, int lane,
                  unsigned column)
{
    struct lab_summary sum;
    slab_view_summary(v, k, a, s, lane, column, &sum);
    return lround(lab_summary_value(&sum, v->stat));
}

static void print_underlined(FILE *out, const char *text)
{
    fprintf(out, "%s\n", text);
    for (size_t i = 0; i < strlen(text); i++)
        fputc('=', out);
    fputc('\n', out);
}

static void print_one_thread(const struct slab_view *v, size_t k, size_t a, size_t s, FILE *out)
{
    const struct lab_case *c = &v->run->cases[k];
    const struct slab_test *test = &slab_tests[c->test];
    const unsigned long long count = v->run->config->count;

    if (test->n_columns == 2)
        fprintf(out, "%llu times kmalloc(%zu)%s -> %ld cycles kfree -> %ld cycles\n", count,
                c->sizes[s], test->label, whole(v, k, a, s, -1, 0), whole(v, k, a, s, -1, 1));
    else
        fprintf(out, "%llu times kmalloc(%zu)/kfree%s -> %ld cycles\n", count, c->sizes[s],
                test->label, whole(v, k, a, s, -1, 0));
}

/* The number of the CPU while every lane has one of its own. */
static unsigned lane_number(const struct lab_config *c, const struct lab_case *k, unsigned lane)
{
    return k->n_threads <= c->n_cpus && k->test != SLAB_TEST_UNPINNED ? c->cpus[lane] : lane;
}

static void print_lanes(const struct slab_view *v, size_t k, size_t a, size_t s, FILE *out)
{
    const struct lab_case *c = &v->run->cases[k];
    const struct slab_test *test = &slab_tests[c->test];

    fprintf(out, "%s(%zu):", test->label, c->sizes[s]);
    for (unsigned lane = 0; lane < c->n_lanes && test->lanes != SLAB_LANES_ALL; lane++) {
        fprintf(out, " %u=%ld", lane_number(v->run->config, c, lane),
                whole(v, k, a, s, (int)lane, 0));
        if (test->n_columns == 2)
            fprintf(out, "/%ld", whole(v, k, a, s, (int)lane, 1));
    }
    fprintf(out, " Average=%ld", whole(v, k, a, s, -1, 0));
    if (test->n_columns == 2)
        fprintf(out, "/%ld", whole(v, k, a, s, -1, 1));
    fputc('\n', out);
}

void slab_print_kernel_style(const struct slab_view *v, size_t allocator_index, FILE *out)
{
    const char *heading = "";
    bool has_banner = false;

    fprintf(out, "test init\n");
    for (size_t k = 0; k < v->run->n_cases; k++) {
        const struct lab_case *c = &v->run->cases[k];
        const struct slab_test *test = &slab_tests[c->test];
        const bool is_single = test->lanes == SLAB_LANES_ONE;

        if (is_single && !has_banner) {
            print_underlined(out, "Single thread testing");
            has_banner = true;
        }
        if (strcmp(heading, test->heading) != 0) {
            heading = test->heading;
            if (is_single)
                fprintf(out, "%s\n", heading);
            else
                print_underlined(out, heading);
        }
        for (size_t s = 0; s < c->n_sizes; s++) {
            if (is_single)
                print_one_thread(v, k, allocator_index, s, out);
            else
                print_lanes(v, k, allocator_index, s, out);
        }
    }
}
