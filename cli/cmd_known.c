/* SPDX-License-Identifier: MIT */
/* Owns `slub bench known_failures`: its help, its cases, and the status that its limits end with. */
#include "cmd_known.h"

#include "cli.h"
#include "list_bench.h"
#include "report/known_report.h"

#include <stdio.h>

static struct known_config config;
static struct known_run run;

static int print_help(void)
{
    printf(
        "usage: slub bench known_failures [OPTION]...\n\n"
        "Cases in which allocators are known to fail, each in a fresh process that checks that "
        "the\n"
        "allocator owns malloc. Limits count for slub where it is among the allocators, else for\n"
        "all of them; times are judged by the shortest round, memory by the worst.\n\n"
        "  --alloc A          an allocator, again for each; see slub bench slab_test --help.\n"
        "                     Default slub\n"
        "  --cases LIST       names, or all; default all\n"
        "  --rounds N         processes for each case and allocator, default 1\n"
        "  --short            short forms, for a look: a case takes about a second; the limits "
        "are\n"
        "                     those of the full forms\n"
        "  --timeout SECONDS  for one process, default 900\n"
        "  --seed N           of all random orders, default 1\n"
        "  --json FILE        everything, schema slub-bench/1; - for standard output\n"
        "  --help, --version\n\n"
        "cases (K: of the kernel's list)\n");
    for (unsigned id = 0; id < KNOWN_N_CASES; id++) {
        const struct known_case *k = known_case((enum known_case_id)id);
        printf("  %s%-3u %-16s %s\n", k->number > 100 ? "K" : " ", k->number % 100, k->name,
               k->help);
    }
    printf(
        "\nExit status: 0 every limit is kept; 1 one is not, or an allocator does not own malloc;\n"
        "2 the command line or the set-up is wrong.\n");
    return cli_flush("bench");
}

static bool choose(const char *name, size_t n)
{
    const enum known_case_id id = name != NULL ? known_case_find(name, n) : KNOWN_N_CASES;

    for (unsigned i = 0; i < KNOWN_N_CASES; i++)
        config.cases[i] = config.cases[i] || name == NULL || i == (unsigned)id;
    return name == NULL || id < KNOWN_N_CASES;
}

static int measure(char *why, size_t room) { return known_run_measure(&run, &config, why, room); }
static void print(FILE *out) { known_print(&run, out); }
static int write_json(char **argv, FILE *out) { return known_json_write(&run, argv, out); }
static bool has_failed(void) { return known_run_has_failed(&run); }
static void release(void) { known_run_release(&run); }

int bench_known_failures(int argc, char **argv)
{
    static const struct list_bench bench = {
        "known_failures", "cases", "case",     &config.lab, &config.is_short, print_help,
        choose,           measure, print,      write_json,  has_failed,       release,
    };

    return list_bench_run(&bench, argc, argv);
}
