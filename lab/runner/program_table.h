/* SPDX-License-Identifier: MIT */
/* The programs that are run whole: the rows of programs.def. */
#ifndef SLUB_LAB_PROGRAM_TABLE_H
#define SLUB_LAB_PROGRAM_TABLE_H

#include <stddef.h>

struct program {
    const char *name;
    unsigned n_starts; /* what the time of a run is divided by */
    const char *help;
};

extern const struct program programs[];
extern const size_t n_programs;

#endif
