/* SPDX-License-Identifier: MIT */
/* Owns `slub bench programs`: its help, its programs, and the status that failed ones end with. */
#include "cmd_programs.h"

#include "cli.h"
#include "list_bench.h"
#include "process_view.h"
#include "report/program_report.h"

#include <stdio.h>
#include <string.h>

static struct program_config config;
static struct program_run run;

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
    return cli_flush("bench");
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

static bool choose(const char *name, size_t n)
{
    bool found = false;

    for (size_t i = 0; i < n_programs; i++) {
        if (name == NULL || (strlen(programs[i].name) == n && memcmp(name, programs[i].name, n) == 0)) {
            config.chosen[i] = true;
            found = true;
        }
    }
    return found;
}

static int measure(char *why, size_t room)
{
    config.find_owner = find_owner;
    return program_run_measure(&run, &config, why, room);
}

static void print(FILE *out) { program_print(&run, out); }
static int write_json(char **argv, FILE *out) { return program_json_write(&run, argv, out); }
static bool has_failed(void) { return program_run_has_failed(&run); }
static void release(void) { program_run_release(&run); }

int bench_programs(int argc, char **argv)
{
    static const struct list_bench bench = {
        "programs", "programs", "program", &config.lab, &config.is_short, print_help,
        choose,     measure,    print,     write_json,  has_failed,       release,
    };

    return list_bench_run(&bench, argc, argv);
}
