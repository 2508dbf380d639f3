/* SPDX-License-Identifier: MIT */
/* Owns `slub run`: becomes the program, with the drop-in malloc preloaded. */
#include "cli.h"

#include "preload.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "run"

static int print_help(void)
{
    printf("usage: slub run [OPTION]... [--] PROGRAM [ARGUMENT]...\n\n"
           "Runs PROGRAM with slub as its malloc, by LD_PRELOAD; programs that it starts inherit "
           "it.\n\n"
           "  --mode MODE        default (checks every free) or fast (does not)\n"
           "  --options STRING   options of the allocator, see slub options; they follow those of\n"
           "                     SLUB_OPTIONS in the environment\n"
           "  --slabinfo[=FILE]  print the slab table when the program ends, on stderr or to FILE\n"
           "  --help             this text\n"
           "  --version          version of the command\n\n"
           "The library is found from the place of this command; SLUB_LIBDIR names another "
           "directory.\n"
           "A program that is static, privileged (setuid, capabilities) or of another machine "
           "cannot be\n"
           "preloaded into and is refused.\n\n"
           "Exit status: the program's; 2 when the command line or the set-up is wrong, 126 when "
           "PROGRAM\n"
           "cannot be executed, 127 when it is not found.\n");
    return cli_flush(COMMAND);
}

int cmd_run(int argc, char **argv)
{
    static const struct option options[] = {
        {"mode", required_argument, NULL, 'm'},
        {"options", required_argument, NULL, 'o'},
        {"slabinfo", optional_argument, NULL, 's'},
        {"group-max", required_argument, NULL, 'g'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    struct preload preload = {.command = COMMAND};
    char path[PATH_MAX];
    int answer;

    while ((answer = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
        switch (answer) {
        case 'm':
            preload.mode = optarg;
            break;
        case 'o':
            preload.options = optarg;
            break;
        case 's':
            preload.slabinfo = optarg != NULL ? optarg : "stderr";
            break;
        case 'g':
            return cli_usage(COMMAND, "--group-max comes in a later version");
        case 'h':
            return print_help();
        case 'V':
            return cli_version();
        default:
            return cli_bad_option(COMMAND, answer, argv);
        }
    }
    if (optind == argc)
        return cli_usage(COMMAND, "no program; see slub run --help");
    const int status = preload_prepare(&preload, argv[optind], path);
    if (status != CLI_DONE)
        return status;
    execvp(path, argv + optind); /* a text without #! goes to the shell, as users expect */
    const int err = errno;
    return cli_complain(COMMAND, err == ENOENT ? CLI_NOT_FOUND : CLI_CANNOT_EXECUTE,
                        "cannot execute '%s': %s", argv[optind], strerror(err));
}
