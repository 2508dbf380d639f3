/* SPDX-License-Identifier: MIT */
/* Owns the reading of the command line of `slub bench slab_test`, with its defaults and its bounds.
 */
#include "bench_args.h"

#include "cli.h"
#include "opt_table.h"
#include "runner/lists.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND           "bench"
#define LARGEST_SIZE      ((uint64_t)1 << 30)
#define MOST_COUNT        ((uint64_t)100000000)
#define MOST_REPEATS      ((uint64_t)100000)
#define MOST_ROUNDS       ((uint64_t)100)
#define MOST_SECONDS      ((uint64_t)86400)
#define MOST_THREADS      4096u

#define KERNEL_COUNT      10000u
#define ROBUST_COUNT      100000u
#define DEFAULT_REPEATS   50u
#define DEFAULT_TIMEOUT_S 900u
#define COMPARISON_IDLE_S 5u

enum {
    OPT_API = 256,
    OPT_ALLOC,
    OPT_SIZES,
    OPT_COUNT,
    OPT_ROBUST,
    OPT_REPEAT,
    OPT_WARMUP,
    OPT_ROUNDS,
    OPT_CPUS,
    OPT_NODES,
    OPT_THREADS,
    OPT_FREERS,
    OPT_TESTS,
    OPT_IDLE,
    OPT_TIMEOUT,
    OPT_SEED,
    OPT_JSON,
    OPT_STYLE,
    OPT_STAT,
    OPT_NS,
    OPT_KERNEL,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"api", required_argument, NULL, OPT_API},
    {"alloc", required_argument, NULL, OPT_ALLOC},
    {"sizes", required_argument, NULL, OPT_SIZES},
    {"count", required_argument, NULL, OPT_COUNT},
    {"robust", no_argument, NULL, OPT_ROBUST},
    {"repeat", required_argument, NULL, OPT_REPEAT},
    {"warmup", required_argument, NULL, OPT_WARMUP},
    {"rounds", required_argument, NULL, OPT_ROUNDS},
    {"cpus", required_argument, NULL, OPT_CPUS},
    {"nodes", required_argument, NULL, OPT_NODES},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"freers", required_argument, NULL, OPT_FREERS},
    {"tests", required_argument, NULL, OPT_TESTS},
    {"idle", required_argument, NULL, OPT_IDLE},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"seed", required_argument, NULL, OPT_SEED},
    {"json", required_argument, NULL, OPT_JSON},
    {"style", required_argument, NULL, OPT_STYLE},
    {"stat", required_argument, NULL, OPT_STAT},
    {"ns", no_argument, NULL, OPT_NS},
    {"kernel", required_argument, NULL, OPT_KERNEL},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

/* What was typed and can be judged only when all of it is known. */
struct typed {
    const char *api;
    const char *allocators[LAB_MAX_ALLOCATORS];
    size_t n_allocators;
    const char *cpus;
    const char *nodes;
    const char *threads;
    const char *tests;
    bool has_count;
    bool has_idle;
};

int bench_args_print_help(void)
{
    printf(
        "usage: slub bench slab_test [OPTION]...\n\n"
        "The tests of the kernel's slab_test module in a process, on one or several allocators. "
        "Each\n"
        "allocator runs in fresh processes which check that it owns the calls; a control library "
        "whose\n"
        "calls do nothing is always measured too: it is the cost of the call.\n\n"
        "what is measured\n"
        "  --api API        malloc (malloc and free) or slub (slub_alloc and slub_free)\n"
        "  --alloc A        an allocator, again for each: system, slub, slub-fast, slub-static,\n"
        "                   slub-fast-static, jemalloc, mimalloc, tcmalloc, scudo, "
        "NAME=/path/lib.so;\n"
        "                   with options: slub:slab_freelist_random=0, jemalloc:narenas:1,\n"
        "                   mimalloc:MIMALLOC_ARENA_EAGER_COMMIT=0. Without --alloc: system and "
        "slub;\n"
        "                   with --api malloc alone: the malloc that is active around this "
        "command\n"
        "  --tests LIST     numbers, names, kernel (1-6, the default), added (the rest) or all\n"
        "  --sizes LIST     bytes: 8,64,1k or 8-1024 (doubling); default 8 to 4 pages with one "
        "thread,\n"
        "                   8 to one page with several\n"
        "  --count N        objects in a test, default 10000\n"
        "  --robust         the robust form: 100000 objects, sizes to one page, remote free object "
        "by\n"
        "                   object, test 4 left out\n"
        "how often and where\n"
        "  --repeat N       repeats of each size in a process, default 50\n"
        "  --warmup N       repeats before them that are not kept, default 0\n"
        "  --rounds N       fresh processes of each allocator, in random order, default 1\n"
        "  --cpus LIST      CPUs to use, 0-3,8; default all\n"
        "  --nodes LIST     nodes whose CPUs to use, taken in turn\n"
        "  --threads LIST   threads of the tests with several, 1,2,4; default one a CPU\n"
        "  --freers M       threads that free in the test remote-m, default all\n"
        "  --idle SECONDS   before the idle memory is read; default 5 with several allocators, "
        "else 0\n"
        "  --timeout SECONDS  for one process, default 900\n"
        "  --seed N         of all random orders, default 1\n"
        "how it is shown\n"
        "  --style STYLE    kernel (the module's lines) or table; default kernel lines and all\n"
        "                   statistics for one allocator, tables for several\n"
        "  --stat STAT      min, median, mean, p99 or all; default min in tables, mean in kernel "
        "lines\n"
        "  --ns             tables in nanoseconds\n"
        "  --json FILE      everything, raw samples included, schema slub-bench/1; - for standard "
        "output\n"
        "  --help, --version\n\n"
        "tests\n");
    for (unsigned t = 0; t < SLAB_N_TESTS; t++)
        printf("  %2u %-16s %s\n", slab_tests[t].number, slab_tests[t].name, slab_tests[t].help);
    printf("\nExit status: 0 done; 1 an allocator failed, or does not own the calls; 2 the command "
           "line or\n"
           "the set-up is wrong.\n");
    return cli_flush(COMMAND);
}

static int take_number(const char *option, const char *text, uint64_t min, uint64_t max,
                       uint64_t *value)
{
    if (lists_parse_number(text, min, max, value) == 0)
        return CLI_DONE;
    return cli_usage(COMMAND, "--%s is a number from %llu to %llu, not '%s'", option,
                     (unsigned long long)min, (unsigned long long)max, text);
}

static int take_sizes(struct lab_config *c, const char *text)
{
    if (lists_parse_sizes(text, 1, LARGEST_SIZE, c->sizes, SLAB_MAX_SIZES, &c->n_sizes) == 0)
        return CLI_DONE;
    return cli_usage(
        COMMAND,
        "--sizes is a list such as 8,64,1k or 8-1024, of at most %d sizes up to 1G, not "
        "'%s'",
        SLAB_MAX_SIZES, text);
}

static int take_style(struct bench_args *a, const char *text)
{
    if (strcmp(text, "kernel") == 0)
        a->style = BENCH_STYLE_KERNEL;
    else if (strcmp(text, "table") == 0)
        a->style = BENCH_STYLE_TABLE;
    else
        return cli_usage(COMMAND, "unknown style '%s': use kernel or table", text);
    return CLI_DONE;
}

static int take_stat(struct bench_args *a, const char *text)
{
    a->all_stats = strcmp(text, "all") == 0;
    if (a->all_stats)
        return CLI_DONE;
    a->has_stat = lab_stat_parse(text, &a->stat) == 0;
    return a->has_stat
               ? CLI_DONE
               : cli_usage(COMMAND, "unknown statistic '%s': use min, median, mean, p99 or all",
                           text);
}

static int take_allocator(struct typed *t, const char *text)
{
    /* One place is the control's. */
    if (t->n_allocators == LAB_MAX_ALLOCATORS - 1)
        return cli_usage(COMMAND, "too many allocators: at most %d", LAB_MAX_ALLOCATORS - 1);
    t->allocators[t->n_allocators++] = text;
    return CLI_DONE;
}

static int take_option(struct bench_args *a, struct typed *t, int answer, char **argv)
{
    struct lab_config *c = &a->config;

    switch (answer) {
    case OPT_API:
        t->api = optarg;
        return CLI_DONE;
    case OPT_ALLOC:
        return take_allocator(t, optarg);
    case OPT_SIZES:
        return take_sizes(c, optarg);
    case OPT_COUNT:
        t->has_count = true;
        return take_number("count", optarg, 1, MOST_COUNT, &c->count);
    case OPT_ROBUST:
        c->robust = true;
        return CLI_DONE;
    case OPT_REPEAT:
        return take_number("repeat", optarg, 1, MOST_REPEATS, &c->n_repeats);
    case OPT_WARMUP:
        return take_number("warmup", optarg, 0, MOST_REPEATS, &c->n_warmup);
    case OPT_ROUNDS:
        return take_number("rounds", optarg, 1, MOST_ROUNDS, &c->n_rounds);
    case OPT_CPUS:
        t->cpus = optarg;
        return CLI_DONE;
    case OPT_NODES:
        t->nodes = optarg;
        return CLI_DONE;
    case OPT_THREADS:
        t->threads = optarg;
        return CLI_DONE;
    case OPT_FREERS:
        return take_number("freers", optarg, 1, MOST_THREADS, &c->n_freers);
    case OPT_TESTS:
        t->tests = optarg;
        return CLI_DONE;
    case OPT_IDLE:
        t->has_idle = true;
        return take_number("idle", optarg, 0, MOST_SECONDS, &c->idle_s);
    case OPT_TIMEOUT:
        return take_number("timeout", optarg, 1, MOST_SECONDS, &c->timeout_s);
    case OPT_SEED:
        return take_number("seed", optarg, 0, UINT32_MAX, &c->seed);
    case OPT_JSON:
        a->json_file = optarg;
        return CLI_DONE;
    case OPT_STYLE:
        return take_style(a, optarg);
    case OPT_STAT:
        return take_stat(a, optarg);
    case OPT_NS:
        a->in_ns = true;
        return CLI_DONE;
    case OPT_KERNEL:
        return cli_usage(COMMAND, "--kernel comes in a later version");
    default:
        return cli_bad_option(COMMAND, answer, argv);
    }
}

/* ---- what depends on other words ----------------------------------------------------- */

static int select_test(struct lab_config *c, const char *name, size_t chars)
{
    bool found = false;
    for (unsigned t = 0; t < SLAB_N_TESTS; t++) {
        char number[16];
        const bool kernel = slab_tests[t].group == SLAB_GROUP_KERNEL;
        snprintf(number, sizeof(number), "%u", slab_tests[t].number);
        const char *const spellings[] = {slab_tests[t].name, number, "all",
                                         kernel ? "kernel" : "added"};
        for (unsigned i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
            if (strlen(spellings[i]) == chars && memcmp(spellings[i], name, chars) == 0)
                c->tests[t] = found = true;
        }
    }
    return found ? CLI_DONE
                 : cli_usage(COMMAND, "unknown test '%.*s'; see slub bench slab_test --help",
                             (int)chars, name);
}

static int settle_tests(struct lab_config *c, const char *list)
{
    if (list == NULL) {
        const int status = select_test(c, "kernel", strlen("kernel"));
        if (c->robust)
            c->tests[SLAB_TEST_CONCURRENT_PAIR] = false;
        return status;
    }
    for (;;) {
        const size_t n = strcspn(list, ",");
        const int status = select_test(c, list, n);
        if (status != CLI_DONE || list[n] == '\0')
            return status;
        list += n + 1;
    }
}

static bool has_id(const unsigned *ids, size_t n, unsigned id)
{
    for (size_t i = 0; i < n; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

/* CPUs of the nodes in turn, so that neighbouring threads are on different nodes. */
static int cpus_of_nodes(struct bench_args *a, const char *list, unsigned *cpus, size_t *n_cpus)
{
    static unsigned of_node[64][LAB_MAX_CPUS];
    unsigned nodes[64];
    size_t n_of[64];
    size_t n_nodes = 0;
    bool more = true;

    if (lists_parse_ids(list, 65535, nodes, 64, &n_nodes) != 0)
        return cli_usage(COMMAND, "--nodes is a list such as 0,1 or 0-3, not '%s'", list);
    for (size_t i = 0; i < n_nodes; i++) {
        if (lab_machine_node_cpus(nodes[i], of_node[i], LAB_MAX_CPUS, &n_of[i]) != 0) {
            a->missing_node = list;
            return CLI_DONE;
        }
    }
    *n_cpus = 0;
    for (size_t k = 0; more; k++) {
        more = false;
        for (size_t i = 0; i < n_nodes; i++) {
            if (k < n_of[i] && *n_cpus < LAB_MAX_CPUS) {
                cpus[(*n_cpus)++] = of_node[i][k];
                more = true;
            }
        }
    }
    return CLI_DONE;
}

static int settle_cpus(struct bench_args *a, const struct typed *t)
{
    static unsigned allowed[LAB_MAX_CPUS];
    static unsigned asked[LAB_MAX_CPUS];
    static unsigned of_nodes[LAB_MAX_CPUS];
    struct lab_config *c = &a->config;
    size_t n_allowed = 0;
    size_t n_asked = 0;
    size_t n_of_nodes = 0;
    char text[128];

    if (lab_machine_cpus(allowed, LAB_MAX_CPUS, &n_allowed) != 0)
        return cli_usage(COMMAND, "cannot read the CPUs of this process");
    if (t->cpus != NULL &&
        lists_parse_ids(t->cpus, LAB_MAX_CPUS - 1, asked, LAB_MAX_CPUS, &n_asked) != 0)
        return cli_usage(COMMAND, "--cpus is a list such as 0-3,8, not '%s'", t->cpus);
    if (t->nodes != NULL) {
        const int status = cpus_of_nodes(a, t->nodes, of_nodes, &n_of_nodes);
        if (status != CLI_DONE || a->missing_node != NULL)
            return status;
    }
    lists_format_ids(allowed, n_allowed, text, sizeof(text));
    for (size_t i = 0; i < n_asked; i++) {
        if (!has_id(allowed, n_allowed, asked[i]))
            return cli_usage(COMMAND, "CPU %u is not ours to use: this process has %s", asked[i],
                             text);
    }
    const unsigned *from = n_asked > 0 ? asked : t->nodes != NULL ? of_nodes : allowed;
    const size_t n_from = n_asked > 0 ? n_asked : t->nodes != NULL ? n_of_nodes : n_allowed;
    for (size_t i = 0; i < n_from; i++) {
        if (has_id(allowed, n_allowed, from[i]) && !has_id(c->cpus, c->n_cpus, from[i]) &&
            (t->nodes == NULL || has_id(of_nodes, n_of_nodes, from[i])))
            c->cpus[c->n_cpus++] = from[i];
    }
    return c->n_cpus > 0 ? CLI_DONE
                         : cli_usage(COMMAND, "no CPU is left: this process has %s", text);
}

static int settle_threads(struct lab_config *c, const char *list)
{
    unsigned counts[LAB_MAX_THREAD_COUNTS];

    if (list == NULL) {
        c->thread_counts[0] = c->n_cpus;
        c->n_thread_counts = 1;
        return CLI_DONE;
    }
    if (lists_parse_ids(list, MOST_THREADS, counts, LAB_MAX_THREAD_COUNTS, &c->n_thread_counts) !=
            0 ||
        has_id(counts, c->n_thread_counts, 0))
        return cli_usage(
            COMMAND,
            "--threads is a list such as 1,2,4 or 1-4, of at most %d numbers up to %u, "
            "not '%s'",
            LAB_MAX_THREAD_COUNTS, MOST_THREADS, list);
    for (size_t i = 0; i < c->n_thread_counts; i++)
        c->thread_counts[i] = counts[i];
    return CLI_DONE;
}

static int settle_allocators(struct bench_args *a, struct typed *t)
{
    struct lab_config *c = &a->config;
    char why[512];

    if (t->api != NULL && strcmp(t->api, "malloc") != 0 && strcmp(t->api, "slub") != 0)
        return cli_usage(COMMAND, "unknown API '%s': use malloc or slub", t->api);
    c->api = t->api != NULL && strcmp(t->api, "slub") == 0 ? LAB_API_SLUB : LAB_API_MALLOC;
    const bool is_active = t->n_allocators == 0 && t->api != NULL && c->api == LAB_API_MALLOC;
    if (t->n_allocators == 0 && !is_active) {
        if (c->api == LAB_API_MALLOC)
            t->allocators[t->n_allocators++] = "system";
        t->allocators[t->n_allocators++] = "slub";
    }
    c->n_allocators = 1; /* the first is the control's */
    if (is_active) {
        if (lab_allocator_init_active(&c->allocators[1], why, sizeof(why)) != 0)
            return cli_usage(COMMAND, "%s", why);
        c->n_allocators = 2;
    }
    for (size_t i = 0; i < t->n_allocators; i++) {
        struct lab_allocator *next = &c->allocators[c->n_allocators];
        if (lab_allocator_init(next, t->allocators[i], c->api, why, sizeof(why)) != 0)
            return cli_usage(COMMAND, "%s", why);
        c->n_allocators++;
        if (next->is_slub && next->options != NULL &&
            opt_check(next->options, why, sizeof(why)) != 0)
            return cli_usage(COMMAND, "allocator '%s': %s", next->name, why);
    }
    if (lab_allocator_init_control(&c->allocators[0], c->api, why, sizeof(why)) != 0)
        return cli_usage(COMMAND, "%s", why);
    lab_allocators_label(c->allocators, c->n_allocators);
    return CLI_DONE;
}

static int check_memory(const struct lab_config *c)
{
    const uint64_t needed = lab_run_memory_bytes(c);
    const uint64_t available = lab_machine_available_bytes();
    if (available == 0 || needed + needed / 4 < available)
        return CLI_DONE;
    return cli_usage(COMMAND,
                     "the tests hold %llu MiB of objects at once and %llu MiB are available: lower "
                     "--count, --sizes or --threads",
                     (unsigned long long)(needed >> 20), (unsigned long long)(available >> 20));
}

static int settle(struct bench_args *a, struct typed *t)
{
    struct lab_config *c = &a->config;

    if (!t->has_count)
        c->count = c->robust ? ROBUST_COUNT : KERNEL_COUNT;
    int status = settle_tests(c, t->tests);
    if (status == CLI_DONE)
        status = settle_cpus(a, t);
    if (status != CLI_DONE || a->missing_node != NULL)
        return status;
    status = settle_threads(c, t->threads);
    if (status == CLI_DONE)
        status = settle_allocators(a, t);
    if (status == CLI_DONE)
        status = check_memory(c);
    if (!t->has_idle && c->n_allocators > 2)
        c->idle_s = COMPARISON_IDLE_S;
    return status;
}

int bench_args_parse(struct bench_args *a, int argc, char **argv)
{
    struct typed typed = {0};
    int answer;

    memset(a, 0, sizeof(*a));
    a->config.n_repeats = DEFAULT_REPEATS;
    a->config.n_rounds = 1;
    a->config.timeout_s = DEFAULT_TIMEOUT_S;
    a->config.seed = 1;
    while ((answer = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        a->is_help = answer == 'h';
        a->is_version = answer == OPT_VERSION;
        if (a->is_help || a->is_version)
            return CLI_DONE;
        const int status = take_option(a, &typed, answer, argv);
        if (status != CLI_DONE)
            return status;
    }
    if (optind < argc)
        return cli_usage(COMMAND, "unexpected argument '%s'; see slub bench slab_test --help",
                         argv[optind]);
    return settle(a, &typed);
}

void bench_args_release(struct bench_args *a)
{
    for (size_t i = 0; i < a->config.n_allocators; i++)
        lab_allocator_free(&a->config.allocators[i]);
    a->config.n_allocators = 0;
}
