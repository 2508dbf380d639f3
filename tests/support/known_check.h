/* SPDX-License-Identifier: MIT */
/* A case of the benchmark known_failures as a part of a test. */
#ifndef SLUB_TESTS_KNOWN_CHECK_H
#define SLUB_TESTS_KNOWN_CHECK_H

#include "known_cases.h"

/* Runs the case in a child, notes its figures, and checks them against the limits of the table:
 * sizes, counts and ratios as they are, times and rates 20 times wider. */
void tk_known(enum known_case_id id, double limit_s);

#endif
