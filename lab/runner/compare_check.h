/* SPDX-License-Identifier: MIT */
/* Whether a side of a comparison runs on the malloc that it names. */
#ifndef SLUB_LAB_COMPARE_CHECK_H
#define SLUB_LAB_COMPARE_CHECK_H

#include "runner/compare_run.h"

/* Runs the side once, unmeasured, and looks into every process of it when it ends. 0, or -1 with one line when the
 * program itself has another malloc; what it starts is counted in @run. */
int compare_check_side(struct compare_run *run, const struct compare_side *side, const char *path, char *const *env,
                       char *why, size_t room);

#endif
