/* SPDX-License-Identifier: MIT */
/* What the subcommands of `slub` share: their table, exit statuses, and how they complain.
 *
 * A complaint is one line on stderr, "slub COMMAND: what is wrong and how to mend it".
 */
#ifndef SLUB_CLI_H
#define SLUB_CLI_H

#include <stddef.h>

enum {
    CLI_DONE = 0,
    CLI_FAILED = 1, /* the thing measured or checked failed */
    CLI_USAGE = 2,  /* the command line or the set-up is wrong */
    CLI_CANNOT_EXECUTE = 126,
    CLI_NOT_FOUND = 127
};

/* argv[0] is the name of the subcommand. */
int cmd_run(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_options(int argc, char **argv);
int cmd_compare(int argc, char **argv);

/* Each prints its line and returns the status in its name, for `return cli_usage(...)`. */
__attribute__((format(printf, 2, 3))) int cli_usage(const char *command, const char *format, ...);
__attribute__((format(printf, 2, 3))) int cli_failed(const char *command, const char *format, ...);
__attribute__((format(printf, 3, 4))) int cli_complain(const char *command, int status,
                                                       const char *format, ...);

/* What getopt_long() answered '?' or ':' to; call it with opterr 0. Returns CLI_USAGE. */
int cli_bad_option(const char *command, int answer, char **argv);

/* Prints "slub VERSION". Returns CLI_DONE. */
int cli_version(void);

/* CLI_DONE, or CLI_FAILED with a line when standard output could not take all that was printed. */
int cli_flush(const char *command);

#endif
