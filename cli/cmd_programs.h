/* SPDX-License-Identifier: MIT */
/* `slub bench programs`. */
#ifndef SLUB_CLI_CMD_PROGRAMS_H
#define SLUB_CLI_CMD_PROGRAMS_H

/* argv[0] is the name of the benchmark. Returns an exit status. */
int bench_programs(int argc, char **argv);

#endif
