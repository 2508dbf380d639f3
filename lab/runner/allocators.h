/* SPDX-License-Identifier: MIT */
/* The allocators that a benchmark may name: how they are found, preloaded and given their options.
 */
#ifndef SLUB_LAB_ALLOCATORS_H
#define SLUB_LAB_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

enum lab_api { LAB_API_MALLOC, LAB_API_SLUB };

/* One column of a run. Strings are owned by the struct. */
struct lab_allocator {
    char *spec;    /* as typed: NAME[=PATH][:OPTIONS] */
    char *name;    /* NAME */
    char *label;   /* NAME, made unique in its run: "slub#2" */
    char *options; /* OPTIONS or NULL */
    char *path;    /* file to preload, and that must own the calls; NULL: whatever is active */
    char *worker;  /* program that makes the calls */
    bool is_control;
    bool is_slub;                 /* ours: takes SLUB_OPTIONS, is compared with the others */
    bool is_linked;               /* part of the worker itself: nothing to preload */
    const char *options_variable; /* variable that takes the options; NULL: they are assignments */
    /* What the worker found, from lab_run_check(). */
    char owner[512];
    char version[64];
    char mode[16];
    char percpu[16];
    char percpu_index[16];
};

/* Reads a specification. Returns 0, or -1 with one line in @error that says what and how to mend
 * it. */
int lab_allocator_init(struct lab_allocator *a, const char *spec, enum lab_api api, char *error,
                       size_t room);

/* The control library as an allocator. */
int lab_allocator_init_control(struct lab_allocator *a, enum lab_api api, char *error, size_t room);

/* Whatever malloc the environment of the command brings. */
int lab_allocator_init_active(struct lab_allocator *a, char *error, size_t room);

void lab_allocator_free(struct lab_allocator *a);

/* Gives every allocator of a run a label of its own. */
void lab_allocators_label(struct lab_allocator *a, size_t n);

/* The environment of a worker: the command's, with the allocator preloaded and its options set.
 * Free it with lab_environ_free(). NULL when out of memory. */
char **lab_allocator_environ(const struct lab_allocator *a);
void lab_environ_free(char **env);

#endif
