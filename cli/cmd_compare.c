/* SPDX-License-Identifier: MIT */
/* Owns `slub compare`: two allocators under a program, two commands, or two stored results; and `slub bench` of the
 * workloads that are programs of our own, which is the same with any number of allocators. */
#include "cmd_compare.h"

#include "cli.h"

#include "compare_args.h"
#include "process_view.h"
#include "report/comparison_json.h"
#include "report/comparison_styles.h"
#include "report/stored.h"
#include "workloads/ticks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct compare_args args;

/* The runs of one command: one, or one of each workload. */
static struct {
    struct compare_config configs[COMPARE_MOST_LOADS];
    struct compare_run runs[COMPARE_MOST_LOADS]; /* of those that could be run, without gaps */
    size_t n;
    json_t *skipped;
} suite;

static bool is_suite(void)
{
    return args.n_loads > 1;
}

static void print_head(const struct compare_run *run)
{
    const struct compare_config *c = run->config;
    const struct lab_machine *m = &run->machine;

    printf("comparison of %s: %s, %u CPUs%s, %s, %s, THP %s, governor %s\n",
           is_suite() ? "several workloads" : c->benchmark, m->cpu_model, m->n_cpus, m->is_guest ? " (guest)" : "",
           m->kernel, m->libc, m->thp[0] != '\0' ? m->thp : "unknown",
           m->governor[0] != '\0' ? m->governor : "unknown");
    for (size_t i = 0; i < c->n_sides; i++) {
        const struct lab_allocator *a = c->sides[i].allocator;
        printf("(%c) %s", (int)('A' + (int)i), c->sides[i].label);
        if (a != NULL)
            printf(": %s %s%s%s", a->owner, a->version, a->options != NULL ? " " : "",
                   a->options != NULL ? a->options : "");
        printf("\n");
    }
}

/* What is known before the first block: on the way to the reader before any figure of a difference is. */
static void announce(const void *of)
{
    const struct compare_run *run = of;
    const struct compare_config *c = run->config;

    if (args.is_machine_read)
        return;
    if (suite.n == 0)
        print_head(run);
    if (run->n_strangers > 0)
        printf("note: %u of %u processes have another malloc, as %s\n", run->n_strangers, run->n_processes,
               run->stranger);
    printf("plan%s%s: noise of %s %.2g %% in %d runs of A; %llu runs will show differences of %.2g %% or more, at "
           "%.2g %% error\n",
           is_suite() ? ", " : "", is_suite() ? c->benchmark : "", c->metrics[0].name, 100 * run->pilot_noise,
           COMPARE_N_PILOT, (unsigned long long)c->most_runs, 100 * run->detectable, 100 * c->rules.alpha);
    if (run->n_resumed > 0)
        printf("resumed: %zu samples were already in %s\n", run->n_resumed, run->journal_path);
    (void)fflush(stdout);
}

static void print_end(const struct compare_run *run, const struct comparison_row *rows)
{
    static const char *const ends[] = {
        [COMPARE_NARROW] = "the interval is narrow enough",
        [COMPARE_RUNS] = "--runs were measured",
        [COMPARE_BUDGET] = "--time is over",
        [COMPARE_INTERRUPTED] = "interrupted; the same command goes on from here",
    };

    printf("%s%s%zu runs of each side, in blocks of random order: %s. Control, A against A:",
           is_suite() ? run->config->benchmark : "", is_suite() ? ": " : "", run->n_blocks, ends[run->end]);
    for (size_t i = 0; i < run->config->n_metrics; i++)
        printf("%s %s %+.2f %% (p %.2g)", i == 0 ? "" : ",", rows[i].name,
               100 * (rows[i].comparison.control_ratio - 1), rows[i].comparison.control_test.p);
    printf(".\n");
}

static int print_table(const struct comparison_table *t)
{
    const struct comparison_row *rows = t->rows;

    if (!args.is_machine_read)
        printf("\n");
    args.style->print(t, args.stat, stdout);
    if (!args.is_machine_read)
        printf("\n");
    for (size_t i = 0; i < suite.n && !args.is_machine_read; i++) {
        print_end(&suite.runs[i], rows);
        rows += suite.configs[i].n_metrics * (suite.configs[i].n_sides - 1);
    }
    return cli_flush(args.command);
}

static int show(char **argv, FILE *json)
{
    struct comparison_table table = {0};
    int status = CLI_DONE;
    int err = 0;

    for (size_t i = 0; i < suite.n && err == 0; i++)
        err = comparison_table_add_run(&table, &suite.runs[i], is_suite());
    if (err != 0 || comparison_table_judge(&table) != 0)
        status = cli_failed(args.command, "out of memory");
    if (status == CLI_DONE && !args.is_quiet)
        status = print_table(&table);
    if (status == CLI_DONE && json != NULL) {
        err = comparison_json_write(suite.runs, suite.n, &table, json_incref(suite.skipped), argv,
                                    strcmp(args.command, "bench") == 0, json);
        if (err != 0)
            status = cli_failed(args.command, "cannot write '%s': %s", args.json_file, strerror(-err));
    }
    comparison_table_release(&table);
    return status;
}

static int find_owner(pid_t pid, char *owner, size_t owner_room, char *why, size_t room)
{
    static struct process_view view;

    if (process_view_read(&view, pid, why, room) != 0)
        return -1;
    snprintf(owner, owner_room, "%s", view.malloc_owner);
    return 0;
}

/* Measures what is next in the suite, in its share of the time that is left. A workload that fails or cannot run here
 * does not take the others with it. */
static int measure_next(size_t i, uint64_t started_ns)
{
    struct compare_config *config = &suite.configs[suite.n];
    struct compare_run *run = &suite.runs[suite.n];
    const uint64_t n_left = args.n_loads > 1 ? args.n_loads - i : 1;
    const uint64_t gone_s = (ticks_now_ns() - started_ns) / 1000000000u;
    char why[1024];

    *config = args.config;
    config->budget_s = gone_s < config->budget_s ? (config->budget_s - gone_s) / n_left : 0;
    config->announce = announce;
    config->find_owner = find_owner;
    int status = compare_args_use(&args, i, config);
    if (status != CLI_DONE)
        return status;
    const int err = compare_run_measure(run, config, why, sizeof(why));
    if (err == 0) {
        suite.n++;
        return run->end == COMPARE_INTERRUPTED
                   ? cli_failed(args.command, "interrupted; the samples are in '%s'", run->journal_path)
                   : CLI_DONE;
    }
    compare_run_release(run);
    if (err != -3)
        return err == -2 ? cli_usage(args.command, "%s", why) : cli_failed(args.command, "%s", why);
    fprintf(args.is_quiet ? stderr : stdout, "%s skipped: %s\n", config->benchmark, why);
    json_array_append_new(suite.skipped, json_pack("{s:s,s:s}", "of", config->benchmark, "why", why));
    return CLI_DONE;
}

static int measure_all(char **argv, FILE *json)
{
    const size_t n = args.n_loads > 1 ? args.n_loads : 1;
    const uint64_t started_ns = ticks_now_ns();
    int status = CLI_DONE;

    suite.skipped = json_array();
    for (size_t i = 0; i < n && !sample_is_interrupted(); i++) {
        const int next = measure_next(i, started_ns);
        status = next > status ? next : status;
        if (next == CLI_USAGE)
            break;
    }
    if (suite.n > 0 && status != CLI_USAGE) {
        const int shown = show(argv, json);
        status = shown > status ? shown : status;
    } else if (status == CLI_DONE) {
        status = cli_flush(args.command);
    }
    for (size_t i = 0; i < suite.n; i++)
        compare_run_release(&suite.runs[i]);
    json_decref(suite.skipped);
    return status;
}

/* The file is opened before anything is measured: a run is too long to lose at its end. */
static int measure(char **argv)
{
    char why[1024];
    FILE *json = NULL;

    if (lab_run_check(&args.config.lab, why, sizeof(why)) != 0)
        return cli_usage(args.command, "%s", why);
    if (args.json_file != NULL)
        json = strcmp(args.json_file, "-") == 0 ? stdout : fopen(args.json_file, "we");
    if (args.json_file != NULL && json == NULL)
        return cli_usage(args.command, "cannot write '%s': %s", args.json_file, strerror(errno));
    int status = measure_all(argv, json);
    if (json != NULL && json != stdout && fclose(json) != 0 && status == CLI_DONE)
        status = cli_failed(args.command, "cannot write '%s': %s", args.json_file, strerror(errno));
    return status;
}

static void print_machine_of(const char *label, const char *path, const struct stored *s)
{
    printf("(%s) %s: slub %s, %s, %s\n", label, path, s->version, s->cpu, s->kernel);
}

static int compare_stored(void)
{
    struct stored before = {0}, after = {0};
    struct comparison_table table = {
        .a_label = "before", .rules = args.config.rules};
    char why[1024];
    int status = CLI_DONE;

    table.rules.is_paired = false; /* not measured together */
    if (stored_read(&before, args.files[0], why, sizeof(why)) != 0 ||
        stored_read(&after, args.files[1], why, sizeof(why)) != 0 ||
        stored_compare(&before, &after, &table, why, sizeof(why)) != 0)
        status = cli_usage(args.command, "%s", why);
    if (status == CLI_DONE) {
        if (!args.is_machine_read) {
            print_machine_of("before", args.files[0], &before);
            print_machine_of("after", args.files[1], &after);
            if (strcmp(before.cpu, after.cpu) != 0 || strcmp(before.kernel, after.kernel) != 0)
                printf("note: two machines: what differs may be theirs\n");
            printf("\n");
        }
        args.style->print(&table, args.stat, stdout);
        status = cli_flush(args.command);
    }
    comparison_table_release(&table);
    stored_release(&before);
    stored_release(&after);
    return status;
}

static int run(const struct lab_load *load, int argc, char **argv)
{
    char **copy = calloc((size_t)argc + 1, sizeof(copy[0])); /* reading the options may change argv */
    int status;

    args.command = load != NULL ? "bench" : "compare";
    if (copy == NULL)
        return cli_failed(args.command, "out of memory");
    memcpy(copy, argv, (size_t)argc * sizeof(copy[0]));
    status = compare_args_parse(&args, load, argc, argv);
    if (status == CLI_DONE && args.is_help)
        status = compare_args_print_help(load);
    else if (status == CLI_DONE && args.is_version)
        status = cli_version();
    else if (status == CLI_DONE)
        status = args.files[0] != NULL ? compare_stored() : measure(copy);
    compare_args_release(&args);
    free(copy);
    return status;
}

int cmd_compare(int argc, char **argv)
{
    return run(NULL, argc, argv);
}

int bench_load(const struct lab_load *load, int argc, char **argv)
{
    return run(load, argc, argv);
}
