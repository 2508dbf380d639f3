/* SPDX-License-Identifier: MIT */
/* What the workloads of slub-bench-load share. They call malloc and free as any program does; what they print are lines
 * of a name and a number.
 */
#ifndef SLUB_LAB_LOAD_H
#define SLUB_LAB_LOAD_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_CANNOT_RUN 77 /* exit status: something is not installed here; a line says what */

/* One program: argv[0] is its name. Returns the exit status. */
#define LOAD(name, function, ...) int function(int argc, char **argv);
#include "workloads/loads.def"
#undef LOAD

/* A number option. */
struct load_option {
    const char *name; /* long name; also its first letter, in lower or upper case, when @letter says so */
    char letter;      /* 0: none */
    const char *help;
    uint64_t *value; /* default before, result after */
    uint64_t min, max;
    bool is_flag; /* takes no number: 1 when given */
};

/* Reads the command line; prints help and exits for --help, prints one line and exits 2 for a word that is wrong. */
void load_options(int argc, char **argv, const struct load_option *options, size_t n);

/* One line on stderr with the reason of errno, and exit 1. */
_Noreturn void load_die(const char *what);

/* malloc that does not fail, and touches the first byte. */
void *load_alloc(size_t bytes);

/* CPUs that this process may use. */
unsigned load_n_cpus(void);

/* Starts @n threads (or with @as_processes processes) of body(i), and waits for all. */
void load_run_tasks(unsigned n, bool as_processes, void (*body)(unsigned i));

#endif
