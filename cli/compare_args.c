/* SPDX-License-Identifier: MIT */
/* Owns the reading of the command line of `slub compare`. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "compare_args.h"

#include "cli.h"
#include "opt_table.h"
#include "runner/lists.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_RUNS      60
#define DEFAULT_BUDGET_S  600
#define DEFAULT_TIMEOUT_S 900
#define MOST_RUNS         100000
#define MOST_SECONDS      604800u

enum {
    OPT_ALLOC = 256,
    OPT_A,
    OPT_B,
    OPT_A_CMD,
    OPT_B_CMD,
    OPT_RUNS,
    OPT_FIXED,
    OPT_TIME,
    OPT_TIMEOUT,
    OPT_THRESHOLD,
    OPT_ERROR,
    OPT_METRIC,
    OPT_STYLE,
    OPT_STAT,
    OPT_JSON,
    OPT_JOURNAL,
    OPT_CPUS,
    OPT_SEED,
    OPT_VERSION
};

static const char *command; /* of messages */

/* What was typed, before it is put together. */
struct typed {
    const char *specs[2];
    const char *allocators[COMPARE_MOST_SIDES]; /* of --alloc */
    size_t n_allocators;
    const char *commands[2];
    const char *style;
    bool has_stat;
    bool has_metric;
    bool after_dashes; /* the words are a program */
};

static void print_sides_help(const struct lab_load *load)
{
    if (load == NULL) {
        printf("usage: slub compare [--a A] [--b B] [OPTION]... {NAME [OPTION]... | NAME,NAME... | all}\n"
               "       slub compare [--a A] [--b B] [OPTION]... -- PROGRAM [ARGUMENT]...\n"
               "       slub compare --a-cmd COMMAND --b-cmd COMMAND [OPTION]...\n"
               "       slub compare [--style STYLE] OLD.json NEW.json\n\n"
               "Whether two allocators under a workload (NAME, see slub bench --list) or a program, two commands,\n"
               "or two stored results differ. ");
    } else {
        printf("usage: slub bench %s [--alloc A]... [OPTION]... [-- OPTION OF THE WORKLOAD...]\n\n"
               "Stresses: %s.\nDoes not show: %s.\nMetrics:",
               load->name, load->stresses, load->does_not_show);
        for (size_t i = 0; i < LOADS_MOST_METRICS && load->metrics[i] != NULL; i++)
            printf("%s %.*s", i == 0 ? "" : ",", (int)strcspn(load->metrics[i], ",="), load->metrics[i]);
        printf(".\n\n");
    }
    printf("Each sample is a fresh process; the sides, and\n"
           "the first once more (the control), take turns in random order, until the 99 %% interval of the\n"
           "ratio of the medians is no wider than the threshold.\n\n");
    if (load != NULL)
        printf("  --alloc A          again for each, as in slub bench slab_test --help; the first is what the others\n"
               "                     are compared with. Default system and slub\n");
    else
        printf("  --a A, --b B       allocators, as in slub bench slab_test --help; default system and slub.\n"
               "                     Refused unless each really owns the program's malloc\n"
               "  --a-cmd, --b-cmd   commands, run by the shell; allocators only where --a or --b names them\n");
}

int compare_args_print_help(const struct lab_load *load)
{
    print_sides_help(load);
    printf("  --metric M         again for each; the first decides when to stop. time, cpu, user, sys, rss,\n"
           "                     faults, major-faults, switches, or NAME[,UNIT][,more]=REGEX: the number in\n"
           "                     the expression's first group, in what the program prints (the last match).\n"
           "                     Default time, cpu, rss, or those of the workload\n"
           "  --runs N           at most so many of each side, default %d\n"
           "  --fixed            exactly so many\n"
           "  --time SECONDS     begin no block later than this, default %d; several workloads share it\n"
           "  --threshold PCT    smallest difference of interest, default 2\n"
           "  --error PCT        probability to call equal sides different, over the table; default 1\n"
           "  --cpus LIST        run on these CPUs\n"
           "  --timeout SECONDS  for one sample, default %d\n"
           "  --seed N           of the orders and of all that is drawn, default 1\n"
           "  --journal FILE     where samples are kept as they are taken, so that the same command goes on\n"
           "                     after an interruption; default in ~/.local/state/slub; none keeps none\n"
           "  --json FILE        everything, raw samples included, schema slub-bench/1; - for standard output\n"
           "  --stat STAT        median (default), min, mean or p99 of the styles that show one figure\n"
           "  --style STYLE      shape of the table, default verdict\n"
           "  --help, --version\n\nstyles\n",
           DEFAULT_RUNS, DEFAULT_BUDGET_S, DEFAULT_TIMEOUT_S);
    for (size_t i = 0; i < n_comparison_styles; i++)
        printf("  %-16s %s\n", comparison_styles[i].name, comparison_styles[i].help);
    printf("  %-16s %s\n", "json", "as --json -");
    if (load != NULL)
        printf("\noptions of the workload: see slub bench %s -- --help\n", load->name);
    printf("\nExit status: 0 compared, whatever the verdict; 1 a program failed or the run was interrupted; 2 the\n"
           "command line or the set-up is wrong, as when an allocator does not own the program's malloc.\n");
    return cli_flush(load != NULL ? "bench" : "compare");
}

static int take_number(const char *option, uint64_t min, uint64_t max, uint64_t *value)
{
    if (lists_parse_number(optarg, min, max, value) == 0)
        return CLI_DONE;
    return cli_usage(command, "--%s is a number from %llu to %llu, not '%s'", option, (unsigned long long)min,
                     (unsigned long long)max, optarg);
}

static int take_percent(const char *option, double most, double *value)
{
    char *end;
    const double percent = strtod(optarg, &end);

    if (end == optarg || *end != '\0' || !(percent > 0) || percent > most)
        return cli_usage(command, "--%s is a percentage above 0 and up to %g, not '%s'", option, most, optarg);
    *value = percent / 100;
    return CLI_DONE;
}

static int take_metric(struct compare_config *c)
{
    char why[512];

    if (c->n_metrics == LAB_MOST_METRICS)
        return cli_usage(command, "too many metrics: at most %d", LAB_MOST_METRICS);
    if (lab_metric_parse(&c->metrics[c->n_metrics], optarg, why, sizeof(why)) != 0)
        return cli_usage(command, "%s", why);
    c->n_metrics++;
    return CLI_DONE;
}

static int take_cpus(struct compare_config *c)
{
    static unsigned cpus[LAB_MAX_CPUS];
    static char text[512];
    size_t n = 0;
    size_t used = 0;

    if (lists_parse_ids(optarg, 1023, cpus, LAB_MAX_CPUS, &n) != 0 || n == 0)
        return cli_usage(command, "--cpus is a list as 0,2-3, not '%s'", optarg);
    for (size_t i = 0; i < n && used < sizeof(text) - 8; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", i == 0 ? "" : ",", cpus[i]);
    c->cpus = text;
    return CLI_DONE;
}

static int take_option(struct compare_args *a, struct typed *t, int answer, char **argv)
{
    struct compare_config *c = &a->config;

    switch (answer) {
    case OPT_ALLOC:
        if (t->n_allocators == COMPARE_MOST_SIDES)
            return cli_usage(command, "too many allocators: at most %d", COMPARE_MOST_SIDES);
        t->allocators[t->n_allocators++] = optarg;
        return CLI_DONE;
    case OPT_A:
    case OPT_B:
        t->specs[answer - OPT_A] = optarg;
        return CLI_DONE;
    case OPT_A_CMD:
    case OPT_B_CMD:
        t->commands[answer - OPT_A_CMD] = optarg;
        return CLI_DONE;
    case OPT_RUNS:
        return take_number("runs", 1, MOST_RUNS, &c->most_runs);
    case OPT_FIXED:
        c->is_fixed = true;
        return CLI_DONE;
    case OPT_TIME:
        return take_number("time", 1, MOST_SECONDS, &c->budget_s);
    case OPT_TIMEOUT:
        return take_number("timeout", 1, MOST_SECONDS, &c->lab.timeout_s);
    case OPT_THRESHOLD:
        return take_percent("threshold", 100, &c->rules.threshold);
    case OPT_ERROR:
        return take_percent("error", 20, &c->rules.alpha);
    case OPT_METRIC:
        t->has_metric = true;
        return take_metric(c);
    case OPT_STYLE:
        t->style = optarg;
        return CLI_DONE;
    case OPT_STAT:
        t->has_stat = true;
        return lab_stat_parse(optarg, &a->stat) == 0
                   ? CLI_DONE
                   : cli_usage(command, "--stat is min, median, mean or p99, not '%s'", optarg);
    case OPT_JSON:
        a->json_file = optarg;
        return CLI_DONE;
    case OPT_JOURNAL:
        c->journal = strcmp(optarg, "none") == 0 ? "" : optarg;
        return CLI_DONE;
    case OPT_CPUS:
        return take_cpus(c);
    case OPT_SEED:
        return take_number("seed", 0, UINT32_MAX, &c->lab.seed);
    case 'h':
        a->is_help = true;
        return CLI_DONE;
    case OPT_VERSION:
        a->is_version = true;
        return CLI_DONE;
    default:
        return cli_bad_option(command, answer, argv);
    }
}

/* ---- sides --------------------------------------------------------------------------------------- */

static int add_allocator(struct compare_args *a, const char *spec, const struct lab_allocator **out)
{
    struct lab_config *lab = &a->config.lab;
    struct lab_allocator *next = &lab->allocators[lab->n_allocators];
    char why[512];

    if (lab_allocator_init(next, spec, LAB_API_MALLOC, why, sizeof(why)) != 0)
        return cli_usage(command, "%s", why);
    lab->n_allocators++;
    if (next->is_linked)
        return cli_usage(command, "allocator '%s' is linked into slub's own programs: there is nothing to preload",
                         next->name);
    if (next->is_slub && next->options != NULL && opt_check(next->options, why, sizeof(why)) != 0)
        return cli_usage(command, "allocator '%s': %s", next->name, why);
    *out = next;
    return CLI_DONE;
}

/* "all", a name, or several with commas. */
static int take_loads(struct compare_args *a, const char *names)
{
    char name[64];

    if (strcmp(names, "all") == 0) {
        for (size_t i = 0; i < n_lab_loads; i++)
            a->loads[a->n_loads++] = &lab_loads[i];
        return CLI_DONE;
    }
    for (;;) {
        const size_t n = strcspn(names, ",");
        snprintf(name, sizeof(name), "%.*s", (int)n, names);
        const struct lab_load *load = lab_load_find(name);
        if (load == NULL || a->n_loads == COMPARE_MOST_LOADS)
            return cli_usage(command, "unknown benchmark '%s'; see slub bench --list, or put -- before a program",
                             name);
        a->loads[a->n_loads++] = load;
        if (names[n] == '\0')
            return CLI_DONE;
        names += n + 1;
    }
}

/* The words of a workload begin with its program. */
static int settle_loads(struct compare_args *a, char **words)
{
    size_t n = 0;

    if (a->n_loads > 1 && words[1] != NULL)
        return cli_usage(command, "'%s': options of a workload need one workload, not a list", words[1]);
    a->words[n++] = (char *)"slub-bench-load";
    while (*words != NULL && n + 1 < COMPARE_MOST_WORDS)
        a->words[n++] = *words++;
    return CLI_DONE;
}

int compare_args_use(struct compare_args *a, size_t i, struct compare_config *config)
{
    char why[512];

    if (a->n_loads == 0)
        return CLI_DONE;
    config->benchmark = a->loads[i]->name;
    a->words[1] = (char *)a->loads[i]->name;
    return lab_load_prepare(a->loads[i], config, why, sizeof(why)) == 0 ? CLI_DONE : cli_usage(command, "%s", why);
}

static int add_side(struct compare_args *a, const char *spec, char *const *argv)
{
    struct compare_side *side = &a->config.sides[a->config.n_sides++];

    side->argv = argv;
    return spec != NULL ? add_allocator(a, spec, &side->allocator) : CLI_DONE;
}

static int settle_commands(struct compare_args *a, const struct typed *t)
{
    int status = CLI_DONE;

    if (t->commands[0] == NULL || t->commands[1] == NULL)
        return cli_usage(command, "--a-cmd and --b-cmd are given together");
    for (size_t i = 0; i < 2 && status == CLI_DONE; i++) {
        char **shell = a->shell_words[i];
        shell[0] = (char *)"/bin/sh";
        shell[1] = (char *)"-c";
        shell[2] = (char *)t->commands[i];
        a->config.sides[i].label = i == 0 ? "A" : "B";
        status = add_side(a, t->specs[i], shell);
    }
    a->config.benchmark = "two commands";
    return status;
}

static int settle_sides(struct compare_args *a, struct typed *t, char **words)
{
    struct compare_config *c = &a->config;
    int status = CLI_DONE;

    if (a->n_loads > 0) {
        status = settle_loads(a, words);
        words = a->words;
    } else {
        c->benchmark = words[0];
    }
    if (t->n_allocators == 0) {
        t->allocators[t->n_allocators++] = t->specs[0] != NULL ? t->specs[0] : "system";
        t->allocators[t->n_allocators++] = t->specs[1] != NULL ? t->specs[1] : "slub";
    } else if (t->n_allocators == 1) {
        t->allocators[1] = t->allocators[0];
        t->allocators[0] = strcmp(t->allocators[1], "system") == 0 ? "slub" : "system";
        t->n_allocators = 2;
    }
    for (size_t i = 0; i < t->n_allocators && status == CLI_DONE; i++)
        status = add_side(a, t->allocators[i], words);
    lab_allocators_label(c->lab.allocators, c->lab.n_allocators);
    for (size_t i = 0; i < c->n_sides && status == CLI_DONE; i++)
        c->sides[i].label = c->sides[i].allocator->label;
    return status;
}

static int settle_style(struct compare_args *a, const struct typed *t)
{
    static const char *const of_perf[] = {"time", "cpu", "switches", "faults"};
    static const char *const usual[] = {"time", "cpu", "rss"};
    const char *name = t->style != NULL ? t->style : "verdict";
    struct compare_config *c = &a->config;
    const bool is_perf = strcmp(name, "perf") == 0;
    const char *const *chosen = is_perf ? of_perf : usual;
    const size_t n = is_perf ? sizeof(of_perf) / sizeof(of_perf[0]) : sizeof(usual) / sizeof(usual[0]);
    char why[256];

    if (strcmp(name, "json") == 0) {
        a->json_file = a->json_file != NULL ? a->json_file : "-";
        name = "verdict";
    }
    a->style = comparison_style_find(name);
    if (a->style == NULL)
        return cli_usage(command, "unknown style '%s'; see slub compare --help", name);
    a->is_quiet = a->json_file != NULL && strcmp(a->json_file, "-") == 0;
    a->is_machine_read = a->is_quiet || strcmp(name, "csv") == 0;
    if (!t->has_stat)
        a->stat = LAB_STAT_MEDIAN;
    for (size_t i = 0; !t->has_metric && (a->n_loads == 0 || is_perf) && i < n; i++) {
        if (lab_metric_parse(&c->metrics[i], chosen[i], why, sizeof(why)) != 0)
            return cli_usage(command, "%s", why);
        c->n_metrics++;
    }
    return CLI_DONE;
}

static bool is_stored(const char *word)
{
    const size_t n = strlen(word);
    return n > 5 && strcmp(word + n - 5, ".json") == 0;
}

static int settle(struct compare_args *a, struct typed *t, char **words)
{
    const bool are_commands = t->commands[0] != NULL || t->commands[1] != NULL;

    int status = CLI_DONE;

    if (a->n_loads == 0 && words[0] != NULL && !t->after_dashes && a->files[0] == NULL)
        status = take_loads(a, words[0]);
    if (status == CLI_DONE)
        status = settle_style(a, t);
    if (status != CLI_DONE)
        return status;
    if (a->files[0] != NULL) {
        if (a->files[1] == NULL || words[0] != NULL)
            return cli_usage(command, "stored results are two files: OLD.json NEW.json");
        if (a->json_file != NULL)
            return cli_usage(command, "stored results are not stored again: use --style csv for programs");
        return CLI_DONE;
    }
    if (are_commands && words[0] != NULL)
        return cli_usage(command, "'%s': a program, or --a-cmd and --b-cmd, not both", words[0]);
    if (are_commands)
        return settle_commands(a, t);
    if (words[0] == NULL)
        return cli_usage(command, "nothing to compare; see slub compare --help");
    return settle_sides(a, t, words);
}

/* Options may stand between and behind the names of files; behind those of a program they are the program's. */
static int take_words(struct compare_args *a, struct typed *t, const struct option *options, int argc, char **argv)
{
    int status = CLI_DONE;
    int answer;

    while (status == CLI_DONE && !a->is_help && !a->is_version) {
        answer = getopt_long(argc, argv, "+:h", options, NULL);
        if (answer != -1) {
            status = take_option(a, t, answer, argv);
            continue;
        }
        t->after_dashes = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
        if (optind == argc || t->after_dashes || a->n_loads > 0 || !is_stored(argv[optind]) || a->files[1] != NULL)
            break;
        a->files[a->files[0] != NULL ? 1 : 0] = argv[optind++];
    }
    return status;
}

int compare_args_parse(struct compare_args *a, const struct lab_load *load, int argc, char **argv)
{
    static const struct option options[] = {
        {"alloc", required_argument, NULL, OPT_ALLOC}, /* of slub bench; these four of slub compare */
        {"a", required_argument, NULL, OPT_A},
        {"b", required_argument, NULL, OPT_B},
        {"a-cmd", required_argument, NULL, OPT_A_CMD},
        {"b-cmd", required_argument, NULL, OPT_B_CMD},
        {"runs", required_argument, NULL, OPT_RUNS},
        {"fixed", no_argument, NULL, OPT_FIXED},
        {"time", required_argument, NULL, OPT_TIME},
        {"timeout", required_argument, NULL, OPT_TIMEOUT},
        {"threshold", required_argument, NULL, OPT_THRESHOLD},
        {"error", required_argument, NULL, OPT_ERROR},
        {"metric", required_argument, NULL, OPT_METRIC},
        {"style", required_argument, NULL, OPT_STYLE},
        {"stat", required_argument, NULL, OPT_STAT},
        {"json", required_argument, NULL, OPT_JSON},
        {"journal", required_argument, NULL, OPT_JOURNAL},
        {"cpus", required_argument, NULL, OPT_CPUS},
        {"seed", required_argument, NULL, OPT_SEED},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, OPT_VERSION},
        {NULL, 0, NULL, 0},
    };
    struct typed typed = {0};

    memset(a, 0, sizeof(*a));
    if (load != NULL)
        a->loads[a->n_loads++] = load;
    a->command = command = load != NULL ? "bench" : "compare";
    a->config.most_runs = DEFAULT_RUNS;
    a->config.budget_s = DEFAULT_BUDGET_S;
    a->config.rules = (struct lab_rules){.alpha = 0.01, .threshold = 0.02, .is_paired = true, .seed = 1};
    a->config.lab.timeout_s = DEFAULT_TIMEOUT_S;
    a->config.lab.seed = 1;
    const int status = take_words(a, &typed, options, argc, argv);
    if (status != CLI_DONE || a->is_help || a->is_version)
        return status;
    if (load != NULL && (typed.specs[0] != NULL || typed.specs[1] != NULL || typed.commands[0] != NULL ||
                         typed.commands[1] != NULL))
        return cli_usage(command, "--a and --b are for slub compare; here it is --alloc, again for each");
    if (load == NULL && typed.n_allocators > 0)
        return cli_usage(command, "--alloc is for slub bench; here it is --a and --b");
    a->config.rules.seed = a->config.lab.seed;
    argv += optind;
    if (load != NULL) /* its name leads the words again */
        *--argv = (char *)load->name;
    return settle(a, &typed, argv);
}

void compare_args_release(struct compare_args *a)
{
    for (size_t i = 0; i < a->config.n_metrics; i++)
        lab_metric_release(&a->config.metrics[i]);
    for (size_t i = 0; i < a->config.lab.n_allocators; i++)
        lab_allocator_free(&a->config.lab.allocators[i]);
    a->config.n_metrics = 0;
    a->config.lab.n_allocators = 0;
}
