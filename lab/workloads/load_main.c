/* SPDX-License-Identifier: MIT */
/* Owns slub-bench-load: the choice of the workload, options, tasks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/load.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_OPTIONS 16
#define MOST_TASKS   4096

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} loads[] = {
#define LOAD(name, function, ...) {name, function},
#include "workloads/loads.def"
#undef LOAD
};

_Noreturn void load_die(const char *what)
{
    fprintf(stderr, "slub-bench-load: %s: %s\n", what, strerror(errno));
    exit(1);
}

void *load_alloc(size_t bytes)
{
    char *p = malloc(bytes);
    if (p == NULL)
        load_die("malloc");
    *(volatile char *)p = 1;
    return p;
}

unsigned load_n_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static void print_help(const char *name, const struct load_option *options, size_t n)
{
    printf("usage: %s [OPTION]...\n", name);
    for (size_t i = 0; i < n; i++) {
        const char letter = options[i].letter;
        printf("  %c%c%c --%-12s %s", letter != 0 ? '-' : ' ', letter != 0 ? letter : ' ', letter != 0 ? ',' : ' ',
               options[i].name, options[i].help);
        if (options[i].is_flag)
            printf("\n");
        else
            printf(", default %llu\n", (unsigned long long)*options[i].value);
    }
    exit(0);
}

static const struct load_option *find_option(const struct load_option *options, size_t n, int answer, int index)
{
    if (answer == 0)
        return &options[index];
    for (size_t i = 0; i < n; i++) {
        if (options[i].letter == answer)
            return &options[i];
    }
    return NULL;
}

static void take(const struct load_option *o, const char *name)
{
    char *end = NULL;
    const unsigned long long v = o->is_flag ? 1 : strtoull(optarg, &end, 10);

    if (!o->is_flag && (end == optarg || *end != '\0' || v < o->min || v > o->max)) {
        fprintf(stderr, "%s: --%s is a number from %llu to %llu, not '%s'\n", name, o->name, (unsigned long long)o->min,
                (unsigned long long)o->max, optarg);
        exit(2);
    }
    *o->value = v;
}

void load_options(int argc, char **argv, const struct load_option *options, size_t n)
{
    struct option longs[MOST_OPTIONS + 2] = {{0}};
    char shorts[2 * MOST_OPTIONS + 4] = "+:h";
    size_t used = 3;
    int answer, index = 0;

    for (size_t i = 0; i < n && i < MOST_OPTIONS; i++) {
        longs[i] = (struct option){options[i].name, options[i].is_flag ? no_argument : required_argument, NULL, 0};
        if (options[i].letter != 0)
            shorts[used++] = options[i].letter;
        if (options[i].letter != 0 && !options[i].is_flag)
            shorts[used++] = ':';
    }
    longs[n] = (struct option){"help", no_argument, NULL, 'h'};
    opterr = 0;
    optind = 0;
    while ((answer = getopt_long(argc, argv, shorts, longs, &index)) != -1) {
        const struct load_option *o = answer == '?' || answer == ':' ? NULL : find_option(options, n, answer, index);
        if (answer == 'h')
            print_help(argv[0], options, n);
        if (o == NULL) {
            fprintf(stderr, "%s: bad option '%s'; see --help\n", argv[0], argv[optind - 1]);
            exit(2);
        }
        take(o, argv[0]);
    }
    if (optind < argc) {
        fprintf(stderr, "%s: unexpected argument '%s'; see --help\n", argv[0], argv[optind]);
        exit(2);
    }
}

struct task {
    void (*body)(unsigned i);
    unsigned i;
    pthread_t thread;
    pid_t pid;
};

static void *run_task(void *of)
{
    struct task *t = of;
    t->body(t->i);
    return NULL;
}

void load_run_tasks(unsigned n, bool as_processes, void (*body)(unsigned i))
{
    static struct task tasks[MOST_TASKS];

    if (n > MOST_TASKS) {
        errno = E2BIG;
        load_die("tasks");
    }
    for (unsigned i = 0; i < n; i++) {
        struct task *t = &tasks[i];
        *t = (struct task){.body = body, .i = i};
        if (as_processes && (t->pid = fork()) == 0) {
            body(i);
            _exit(0);
        }
        const int err = as_processes ? (t->pid < 0 ? errno : 0) : pthread_create(&t->thread, NULL, run_task, t);
        if (err != 0) {
            errno = err;
            load_die("cannot start a task");
        }
    }
    for (unsigned i = 0; i < n; i++) {
        int status = 0;
        if (as_processes)
            waitpid(tasks[i].pid, &status, 0);
        else
            pthread_join(tasks[i].thread, NULL);
        if (status != 0) {
            fprintf(stderr, "slub-bench-load: a task ended with status %x\n", (unsigned)status);
            exit(1);
        }
    }
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(loads) / sizeof(loads[0]); i++) {
        if (strcmp(loads[i].name, argv[1]) == 0)
            return loads[i].run(argc - 1, argv + 1);
    }
    fprintf(stderr, "usage: slub-bench-load NAME [OPTION]...; see slub bench --list\n");
    return 2;
}
