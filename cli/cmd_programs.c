/* SPDX-License-Identifier: MIT */
/* Owns `slub bench programs`: its command line, and the status that failed programs end with. */
#include "cmd_programs.h"

#include "cli.h"
#include "opt_table.h"
#include "process_view.h"
#include "report/program_report.h"
#include "runner/lists.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define COMMAND           "bench"
#define MOST_ROUNDS       100u
#define MOST_SECONDS      86400u
#define DEFAULT_TIMEOUT_S 900u

enum {
    OPT_ALLOC = 256,
    OPT_PROGRAMS,
    OPT_ROUNDS,
    OPT_SHORT,
    OPT_TIMEOUT,
    OPT_SEED,
    OPT_JSON,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"alloc", required_argument, NULL, OPT_ALLOC},
    {"programs", required_argument, NULL, OPT_PROGRAMS},
    {"rounds", required_argument, NULL, OPT_ROUNDS},
    {"short", no_argument, NULL, OPT_SHORT},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"seed", required_argument, NULL, OPT_SEED},
    {"json", required_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

struct program_args {
    struct program_config config;
    const char *specs[LAB_MAX_ALLOCATORS];
    size_t n_specs;
    const char *json_file;
};

static int print_help(void)
{
    printf("usage: slub bench programs [OPTION]...\n\n"
           "Programs run whole under each allocator: their answers are compared with those that "
           "they give\n"
           "without a preload, every process is checked to have its malloc from the allocator, and "
           "time and\n"
           "peak memory are shown, beside the ratio to the first allocator.\n\n"
           "  --alloc A          an allocator, again for each; see slub bench slab_test --help.\n"
           "                     Default slub\n"
           "  --programs LIST    names, or all; default all\n"
           "  --rounds N         runs of each program and allocator, default 1; round 1 also looks "
           "into\n"
           "                     the processes, so its times count only when there is no other\n"
           "  --short            short forms, of a few seconds each\n"
           "  --timeout SECONDS  for one run, default 900\n"
           "  --seed N           of the order of allocators, default 1\n"
           "  --json FILE        everything, schema slub-bench/1; - for standard output\n"
           "  --help, --version\n\n"
           "programs\n");
    for (size_t i = 0; i < n_programs; i++)
        printf("  %-16s %s\n", programs[i].name, programs[i].help);
    printf("\nExit status: 0 every program ran as it should, or was skipped; 1 one did not; 2 the\n"
           "command line or the set-up is wrong.\n");
    return cli_flush(COMMAND);
}

/* Beside its own files the command knows what else a process has mapped. */
static int find_owner(pid_t pid, char *owner, size_t owner_room, char *why, size_t room)
{
    static struct process_view view;

    if (process_view_read(&view, pid, why, room) != 0)
        return -1;
    snprintf(owner, owner_room, "%s", view.malloc_owner);
    return 0;
}

static int take_number(const char *option, uint64_t min, uint64_t max, uint64_t *value)
{
    if (lists_parse_number(optarg, min, max, value) == 0)
        return CLI_DONE;
    return cli_usage(COMMAND, "--%s is a number from %llu to %llu, not '%s'", option,
                     (unsigned long long)min, (unsigned long long)max, optarg);
}

static int take_programs(struct program_config *c, const char *list)
{
    for (;;) {
        const size_t n = strcspn(list, ",");
        const bool all = n == strlen("all") && memcmp(list, "all", n) == 0;
        bool found = false;
        for (size_t i = 0; i < n_programs; i++) {
            if (all || (strlen(programs[i].name) == n && memcmp(list, programs[i].name, n) == 0)) {
                c->chosen[i] = true;
                found = true;
            }
        }
        if (!found)
            return cli_usage(COMMAND, "unknown program '%.*s'; see slub bench programs --help",
                             (int)n, list);
        if (list[n] == '\0')
            return CLI_DONE;
        list += n + 1;
    }
}

static int take_option(struct program_args *a, int answer, char **argv)
{
    struct lab_config *c = &a->config.lab;

    switch (answer) {
    case OPT_ALLOC:
        if (a->n_specs == LAB_MAX_ALLOCATORS)
            return cli_usage(COMMAND, "too many allocators: at most %d", LAB_MAX_ALLOCATORS);
        a->specs[a->n_specs++] = optarg;
        return CLI_DONE;
    case OPT_PROGRAMS:
        return take_programs(&a->config, optarg);
    case OPT_ROUNDS:
        return take_number("rounds", 1, MOST_ROUNDS, &c->n_rounds);
    case OPT_SHORT:
        a->config.is_short = true;
        return CLI_DONE;
    case OPT_TIMEOUT:
        return take_number("timeout", 1, MOST_SECONDS, &c->timeout_s);
    case OPT_SEED:
        return take_number("seed", 0, UINT32_MAX, &c->seed);
    case OPT_JSON:
        a->json_file = optarg;
        return CLI_DONE;
    default:
        return cli_bad_option(COMMAND, answer, argv);
    }
}

static int settle(struct program_args *a)
{
    struct lab_config *c = &a->config.lab;
    bool has_one = false;
    char why[512];

    if (a->n_specs == 0)
        a->specs[a->n_specs++] = "slub";
    for (size_t i = 0; i < a->n_specs; i++) {
        struct lab_allocator *next = &c->allocators[i];
        if (lab_allocator_init(next, a->specs[i], LAB_API_MALLOC, why, sizeof(why)) != 0)
            return cli_usage(COMMAND, "%s", why);
        c->n_allocators++;
        if (next->is_slub && next->options != NULL &&
            opt_check(next->options, why, sizeof(why)) != 0)
            return cli_usage(COMMAND, "allocator '%s': %s", next->name, why);
    }
    lab_allocators_label(c->allocators, c->n_allocators);
    for (size_t i = 0; i < n_programs; i++)
        has_one = has_one || a->config.chosen[i];
    return has_one ? CLI_DONE : take_programs(&a->config, "all");
}

static int show(const struct program_args *a, const struct program_run *run, char **argv,
                FILE *json)
{
    int status = CLI_DONE;

    if (json != stdout) {
        program_print(run, stdout);
        status = cli_flush(COMMAND);
    }
    if (json != NULL && status == CLI_DONE) {
        const int err = program_json_write(run, argv, json);
        if (err != 0)
            return cli_failed(COMMAND, "cannot write '%s': %s", a->json_file, strerror(-err));
    }
    return status == CLI_DONE && program_run_has_failed(run) ? CLI_FAILED : status;
}

/* The file is opened before anything is measured: a run is too long to lose at its end. */
static int measure(struct program_args *a, char **argv)
{
    struct program_run run;
    char why[1024];
    FILE *json = NULL;

    if (lab_run_check(&a->config.lab, why, sizeof(why)) != 0)
        return cli_failed(COMMAND, "%s", why);
    if (a->json_file != NULL)
        json = strcmp(a->json_file, "-") == 0 ? stdout : fopen(a->json_file, "we");
    if (a->json_file != NULL && json == NULL)
        return cli_usage(COMMAND, "cannot write '%s': %s", a->json_file, strerror(errno));
    int status = program_run_measure(&run, &a->config, why, sizeof(why)) != 0
                     ? cli_failed(COMMAND, "%s", why)
                     : show(a, &run, argv, json);
    program_run_release(&run);
    if (json != NULL && json != stdout && fclose(json) != 0 && status == CLI_DONE)
        status = cli_failed(COMMAND, "cannot write '%s': %s", a->json_file, strerror(errno));
    return status;
}

int bench_programs(int argc, char **argv)
{
    static struct program_args args;
    int answer;
    int status = CLI_DONE;

    args.config.find_owner = find_owner;
    args.config.lab.n_rounds = 1;
    args.config.lab.timeout_s = DEFAULT_TIMEOUT_S;
    args.config.lab.seed = 1;
    while (status == CLI_DONE &&
           (answer = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (answer == 'h')
            return print_help();
        if (answer == OPT_VERSION)
            return cli_version();
        status = take_option(&args, answer, argv);
    }
    if (status == CLI_DONE && optind < argc)
        status = cli_usage(COMMAND, "unexpected argument '%s'; see slub bench programs --help",
                           argv[optind]);
    if (status == CLI_DONE)
        status = settle(&args);
    if (status == CLI_DONE)
        status = measure(&args, argv);
    for (size_t i = 0; i < args.config.lab.n_allocators; i++)
        lab_allocator_free(&args.config.lab.allocators[i]);
    return status;
}
