/* SPDX-License-Identifier: MIT */
/* Owns the command line of the benchmarks over a list; see list_bench.h. */
#include "list_bench.h"

#include "cli.h"
#include "opt_table.h"
#include "runner/lists.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#define COMMAND           "bench"
#define MOST_ROUNDS       100u
#define MOST_SECONDS      86400u
#define DEFAULT_TIMEOUT_S 900u

enum { OPT_ALLOC = 256, OPT_LIST, OPT_ROUNDS, OPT_SHORT, OPT_TIMEOUT, OPT_SEED, OPT_JSON, OPT_VERSION };

struct list_args {
    const struct list_bench *bench;
    const char *specs[LAB_MAX_ALLOCATORS];
    size_t n_specs;
    const char *json_file;
    bool has_one; /* of the list */
};

static int take_number(const char *option, uint64_t min, uint64_t max, uint64_t *value)
{
    if (lists_parse_number(optarg, min, max, value) == 0)
        return CLI_DONE;
    return cli_usage(COMMAND, "--%s is a number from %llu to %llu, not '%s'", option,
                     (unsigned long long)min, (unsigned long long)max, optarg);
}

static int take_list(struct list_args *a, const char *list)
{
    const struct list_bench *b = a->bench;

    for (;;) {
        const size_t n = strcspn(list, ",");
        const bool all = n == strlen("all") && memcmp(list, "all", n) == 0;
        if (!b->choose(all ? NULL : list, n))
            return cli_usage(COMMAND, "unknown %s '%.*s'; see slub bench %s --help", b->thing, (int)n,
                             list, b->name);
        a->has_one = true;
        if (list[n] == '\0')
            return CLI_DONE;
        list += n + 1;
    }
}

static int take_option(struct list_args *a, int answer, char **argv)
{
    struct lab_config *c = a->bench->lab;

    switch (answer) {
    case OPT_ALLOC:
        if (a->n_specs == LAB_MAX_ALLOCATORS)
            return cli_usage(COMMAND, "too many allocators: at most %d", LAB_MAX_ALLOCATORS);
        a->specs[a->n_specs++] = optarg;
        return CLI_DONE;
    case OPT_LIST:
        return take_list(a, optarg);
    case OPT_ROUNDS:
        return take_number("rounds", 1, MOST_ROUNDS, &c->n_rounds);
    case OPT_SHORT:
        *a->bench->is_short = true;
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

static int settle(struct list_args *a)
{
    struct lab_config *c = a->bench->lab;
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
    return a->has_one ? CLI_DONE : take_list(a, "all");
}

static int show(const struct list_args *a, char **argv, FILE *json)
{
    int status = CLI_DONE;

    if (json != stdout) {
        a->bench->print(stdout);
        status = cli_flush(COMMAND);
    }
    if (json != NULL && status == CLI_DONE) {
        const int err = a->bench->write_json(argv, json);
        if (err != 0)
            return cli_failed(COMMAND, "cannot write '%s': %s", a->json_file, strerror(-err));
    }
    return status == CLI_DONE && a->bench->has_failed() ? CLI_FAILED : status;
}

/* The file is opened before anything is measured: a run is too long to lose at its end. */
static int measure(const struct list_args *a, char **argv)
{
    char why[1024];
    FILE *json = NULL;

    if (lab_run_check(a->bench->lab, why, sizeof(why)) != 0)
        return cli_failed(COMMAND, "%s", why);
    if (a->json_file != NULL)
        json = strcmp(a->json_file, "-") == 0 ? stdout : fopen(a->json_file, "we");
    if (a->json_file != NULL && json == NULL)
        return cli_usage(COMMAND, "cannot write '%s': %s", a->json_file, strerror(errno));
    int status = a->bench->measure(why, sizeof(why)) != 0 ? cli_failed(COMMAND, "%s", why)
                                                          : show(a, argv, json);
    a->bench->release();
    if (json != NULL && json != stdout && fclose(json) != 0 && status == CLI_DONE)
        status = cli_failed(COMMAND, "cannot write '%s': %s", a->json_file, strerror(errno));
    return status;
}

int list_bench_run(const struct list_bench *b, int argc, char **argv)
{
    const struct option long_options[] = {
        {"alloc", required_argument, NULL, OPT_ALLOC},
        {b->list_option, required_argument, NULL, OPT_LIST},
        {"rounds", required_argument, NULL, OPT_ROUNDS},
        {"short", no_argument, NULL, OPT_SHORT},
        {"timeout", required_argument, NULL, OPT_TIMEOUT},
        {"seed", required_argument, NULL, OPT_SEED},
        {"json", required_argument, NULL, OPT_JSON},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, OPT_VERSION},
        {NULL, 0, NULL, 0},
    };
    struct list_args args = {.bench = b};
    int answer;
    int status = CLI_DONE;

    b->lab->n_rounds = 1;
    b->lab->timeout_s = DEFAULT_TIMEOUT_S;
    b->lab->seed = 1;
    while (status == CLI_DONE &&
           (answer = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (answer == 'h')
            return b->print_help();
        if (answer == OPT_VERSION)
            return cli_version();
        status = take_option(&args, answer, argv);
    }
    if (status == CLI_DONE && optind < argc)
        status = cli_usage(COMMAND, "unexpected argument '%s'; see slub bench %s --help", argv[optind],
                           b->name);
    if (status == CLI_DONE)
        status = settle(&args);
    if (status == CLI_DONE)
        status = measure(&args, argv);
    for (size_t i = 0; i < b->lab->n_allocators; i++)
        lab_allocator_free(&b->lab->allocators[i]);
    return status;
}
