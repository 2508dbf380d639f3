/* SPDX-License-Identifier: MIT */
/* Owns `slub bench`: which benchmark, and from the samples of a run to what is printed and stored.
 */
#include "cli.h"

#include "bench_args.h"
#include "cmd_compare.h"
#include "cmd_known.h"
#include "cmd_programs.h"
#include "report/slab_json.h"
#include "report/slab_view.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define COMMAND "bench"

static int bench_slab_test(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} benchmarks[] = {
    {"slab_test", bench_slab_test,
     "the tests of the kernel's slab_test module, and more, on several allocators"},
    {"known_failures", bench_known_failures,
     "cases in which allocators are known to fail, judged by limits of time and memory"},
    {"programs", bench_programs, "whole programs: answers, time and peak memory"},
};

#define N_BENCHMARKS (sizeof(benchmarks) / sizeof(benchmarks[0]))

static int print_help(void)
{
    printf("usage: slub bench --list\n"
           "       slub bench NAME [OPTION]...\n"
           "       slub bench NAME --help\n\n"
           "  --list     the benchmarks\n"
           "  --help     this text\n"
           "  --version  version of the command\n");
    return cli_flush(COMMAND);
}

static int print_list(void)
{
    for (size_t i = 0; i < N_BENCHMARKS; i++)
        printf("%-16s %s\n", benchmarks[i].name, benchmarks[i].help);
    for (size_t i = 0; i < n_lab_loads; i++)
        printf("%-16s %s\n", lab_loads[i].name, lab_loads[i].stresses);
    return cli_flush(COMMAND);
}

/* The kernel's lines for every allocator, the control last. */
static void print_kernel_lines(const struct slab_view *v)
{
    const struct lab_config *c = v->run->config;
    for (size_t i = 1; i <= c->n_allocators; i++) {
        const struct lab_allocator *a = &c->allocators[i % c->n_allocators];
        printf("# %s: %s%s\n", a->label, a->owner, a->is_control ? " (calls that do nothing)" : "");
        slab_print_kernel_style(v, i % c->n_allocators, stdout);
        printf("\n");
    }
}

static void print_text(const struct bench_args *a, struct slab_view *v)
{
    const bool is_comparison = a->config.n_allocators > 2;
    const enum lab_stat stat = v->stat;

    slab_print_header(v, stdout);
    printf("\n");
    if (a->style == BENCH_STYLE_KERNEL || (a->style == BENCH_STYLE_DEFAULT && !is_comparison)) {
        v->stat = a->has_stat ? a->stat : LAB_STAT_MEAN;
        print_kernel_lines(v);
        v->stat = stat;
    }
    if (a->style == BENCH_STYLE_KERNEL)
        return;
    v->all_stats = a->all_stats || (!a->has_stat && !is_comparison);
    slab_print_tables(v, stdout);
}

static int write_json(const struct bench_args *a, const struct slab_view *v, char **argv, FILE *out)
{
    const int err = slab_json_write(v, argv, out);
    return err == 0 ? CLI_DONE
                    : cli_failed(COMMAND, "cannot write '%s': %s", a->json_file, strerror(-err));
}

static int show(const struct bench_args *a, const struct lab_run *run, char **argv, FILE *json)
{
    struct slab_view view;
    int status = CLI_DONE;

    if (slab_view_init(&view, run) != 0)
        return cli_failed(COMMAND, "out of memory");
    view.stat = a->has_stat ? a->stat : LAB_STAT_MIN;
    view.in_ns = a->in_ns;
    if (json != stdout) {
        print_text(a, &view);
        status = cli_flush(COMMAND);
    }
    if (json != NULL && status == CLI_DONE)
        status = write_json(a, &view, argv, json);
    slab_view_release(&view);
    return status;
}

/* The file is opened before anything is measured: a run is too long to lose at its end. */
static int run_slab_test(struct bench_args *a, char **argv)
{
    struct lab_run run;
    char why[1024];
    FILE *json = NULL;

    if (lab_run_check(&a->config, why, sizeof(why)) != 0)
        return cli_failed(COMMAND, "%s", why);
    if (a->json_file != NULL)
        json = strcmp(a->json_file, "-") == 0 ? stdout : fopen(a->json_file, "we");
    if (a->json_file != NULL && json == NULL)
        return cli_usage(COMMAND, "cannot write '%s': %s", a->json_file, strerror(errno));
    int status = lab_run_measure(&run, &a->config, why, sizeof(why)) != 0
                     ? cli_failed(COMMAND, "%s", why)
                     : show(a, &run, argv, json);
    lab_run_release(&run);
    if (json != NULL && json != stdout && fclose(json) != 0 && status == CLI_DONE)
        status = cli_failed(COMMAND, "cannot write '%s': %s", a->json_file, strerror(errno));
    return status;
}

static int bench_slab_test(int argc, char **argv)
{
    static struct bench_args args;
    char nodes[256];

    int status = bench_args_parse(&args, argc, argv);
    if (status == CLI_DONE) {
        if (args.is_help) {
            status = bench_args_print_help();
        } else if (args.is_version) {
            status = cli_version();
        } else if (args.missing_node != NULL) {
            lab_machine_nodes_text(nodes, sizeof(nodes));
            printf("slab_test skipped: --nodes %s asked for, this machine has node %s only\n",
                   args.missing_node, nodes);
            status = cli_flush(COMMAND);
        } else {
            status = run_slab_test(&args, argv);
        }
    }
    bench_args_release(&args);
    return status;
}

int cmd_bench(int argc, char **argv)
{
    static const struct option options[] = {
        {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };

    const int answer = getopt_long(argc, argv, "+:h", options, NULL);
    switch (answer) {
    case 'l':
        return print_list();
    case 'h':
        return print_help();
    case 'V':
        return cli_version();
    case -1:
        break;
    default:
        return cli_bad_option(COMMAND, answer, argv);
    }
    if (optind == argc)
        return cli_usage(COMMAND, "no benchmark named; see slub bench --list");
    argv += optind;
    argc -= optind;
    optind = 0; /* the benchmark's own words are parsed anew */
    for (size_t i = 0; i < N_BENCHMARKS; i++) {
        if (strcmp(argv[0], benchmarks[i].name) == 0)
            return benchmarks[i].run(argc, argv);
    }
    const struct lab_load *load = lab_load_find(argv[0]);
    return load != NULL ? bench_load(load, argc, argv)
                        : cli_usage(COMMAND, "unknown benchmark '%s'; see slub bench --list", argv[0]);
}
