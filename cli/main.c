/* SPDX-License-Identifier: MIT */
/* Owns the front of the `slub` command: which subcommand runs, and what all of them say alike. */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <slub/version.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* NULL: comes in a later version */
    const char *summary;
};

static const struct command commands[] = {
    {"run", cmd_run, "run a program with slub as its malloc"},
    {"bench", cmd_bench, "measure allocators"},
    {"info", cmd_info, "whether and how slub is active in a process"},
    {"options", cmd_options, "every option: type, default, bounds, unit, stability, help"},
    {"compare", cmd_compare, "whether two allocators, commands or stored results differ"},
    {"report", NULL, "stored results as one page"},
    {"top", NULL, "the caches of a process, live"},
    {"validate", NULL, "check the heap of a process"},
    {"leaks", NULL, "objects that nobody points to"},
    {"walk", NULL, "every object of a cache"},
    {"whatis", NULL, "what an address is"},
    {"doctor", NULL, "where the memory of a process is"},
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void complain(const char *command, const char *format, va_list args)
{
    /* One write: the line stays whole beside those of other processes. */
    char line[2048];
    int n = command == NULL ? snprintf(line, sizeof(line), "slub: ")
                            : snprintf(line, sizeof(line), "slub %s: ", command);
    vsnprintf(line + n, sizeof(line) - (size_t)n, format, args);
    fprintf(stderr, "%s\n", line);
}

int cli_usage(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(command, format, args);
    va_end(args);
    return CLI_USAGE;
}

int cli_failed(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(command, format, args);
    va_end(args);
    return CLI_FAILED;
}

int cli_complain(const char *command, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(command, format, args);
    va_end(args);
    return status;
}

int cli_bad_option(const char *command, int answer, char **argv)
{
    const char *word = argv[optind - 1];
    const char *spaced = command == NULL ? "" : " ";
    const char *name = command == NULL ? "" : command;

    if (answer == ':')
        return cli_usage(command, "option '%s' needs a value; see slub%s%s --help", word, spaced,
                         name);
    if (optopt != 0 && word[0] == '-' && word[1] == '-')
        return cli_usage(command, "option '%s' takes no value; see slub%s%s --help", word, spaced,
                         name);
    if (optopt != 0)
        return cli_usage(command, "unknown option '-%c'; see slub%s%s --help", optopt, spaced,
                         name);
    return cli_usage(command, "unknown option '%s'; see slub%s%s --help", word, spaced, name);
}

int cli_version(void)
{
    printf("slub %s\n", SLUB_VERSION);
    return cli_flush(NULL);
}

int cli_flush(const char *command)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return CLI_DONE;
    return cli_failed(command, "cannot write the output: %s", strerror(errno));
}

static int print_help(void)
{
    printf("usage: slub COMMAND [OPTION]... [ARGUMENT]...\n"
           "       slub COMMAND --help | --version\n\n"
           "The SLUB slab allocator: programs on it, figures of it, a look into it.\n\n");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (commands[i].run != NULL)
            printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    printf("\nin a later version:\n");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (commands[i].run == NULL)
            printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    printf(
        "\nExit status: 0 done; 1 what was measured or checked failed; 2 the command line or the\n"
        "set-up is wrong, with one line on stderr that says what and how to mend it.\n");
    return cli_flush(NULL);
}

static int run_command(const struct command *c, int argc, char **argv)
{
    if (c->run != NULL)
        return c->run(argc, argv);
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return cli_version();
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        printf("slub %s (%s) comes in a later version\n", c->name, c->summary);
        return cli_flush(c->name);
    }
    return cli_usage(c->name, "comes in a later version");
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };

    opterr = 0;
    const int answer = getopt_long(argc, argv, "+:hV", options, NULL);
    if (answer == 'h')
        return print_help();
    if (answer == 'V')
        return cli_version();
    if (answer != -1)
        return cli_bad_option(NULL, answer, argv);
    if (optind == argc)
        return cli_usage(NULL, "no command; see slub --help");

    char **words = argv + optind;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, words[0]) == 0) {
            const int n_words = argc - optind;
            optind = 0; /* the subcommand parses anew */
            return run_command(&commands[i], n_words, words);
        }
    }
    return cli_usage(NULL, "unknown command '%s'; see slub --help", words[0]);
}
