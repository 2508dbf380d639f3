/* SPDX-License-Identifier: MIT */
/* The command line that the random heap programs share. */
#ifndef SLUB_TESTS_STRESS_OPTIONS_H
#define SLUB_TESTS_STRESS_OPTIONS_H

#include "model.h"

/* --threads N, --seconds S, --seed N, --max-bytes N, --slots N, and the storms --signals, --moves,
 * --churn, --forks. SLUB_TEST_SECONDS and SLUB_TEST_SEED count where the command line is silent;
 * SLUB_TEST_SECONDS never lengthens what the command line says. Exits with 2 and a line on stderr
 * when it is wrong. */
void options_parse(struct model_config *config, int argc, char **argv);

/* Run, say the seed and what was done on stdout, and give the exit status. */
int options_run(const char *program, struct model_config *config);

#endif
