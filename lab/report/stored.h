/* SPDX-License-Identifier: MIT */
/* Stored results, of this machine or another, as series that can be compared. */
#ifndef SLUB_LAB_STORED_H
#define SLUB_LAB_STORED_H

#include "report/comparison_table.h"

#include <stddef.h>

struct stored_series {
    char *group; /* "slab_test batch", "hackbench" */
    char *name;  /* "64 alloc", "time" */
    char *side;  /* label of the allocator or the side */
    char unit[16];
    char op[8];
    size_t size_bytes;
    enum lab_better better;
    double *values; /* one of each process */
    size_t n;
};

struct stored {
    char *cpu, *kernel, *version; /* what the file says of its machine and of slub */
    double tick_ns;
    struct stored_series *series;
    size_t n_series;
};

/* Reads a file that slub wrote. 0, or -1 with one line. */
int stored_read(struct stored *s, const char *path, char *why, size_t room);
void stored_release(struct stored *s);

/* A row for each series that both have, in the order of @before: of one side against the same side. Where each file has
 * one side only, their labels need not be alike. Judged. 0, or -1 with one line. */
int stored_compare(const struct stored *before, const struct stored *after, struct comparison_table *t, char *why,
                   size_t room);

#endif
