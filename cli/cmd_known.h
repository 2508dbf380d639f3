/* SPDX-License-Identifier: MIT */
/* `slub bench known_failures`. */
#ifndef SLUB_CLI_CMD_KNOWN_H
#define SLUB_CLI_CMD_KNOWN_H

/* argv[0] is the name of the benchmark. Returns an exit status. */
int bench_known_failures(int argc, char **argv);

#endif
