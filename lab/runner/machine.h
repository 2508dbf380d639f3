/* SPDX-License-Identifier: MIT */
/* What a figure depends on beside the allocator: the machine, its CPUs and nodes, the rate of its
 * clock. */
#ifndef SLUB_LAB_MACHINE_H
#define SLUB_LAB_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_machine {
    char cpu_model[128];
    char kernel[320];  /* name, release, version, machine */
    char libc[64];     /* of the command and the workers */
    char thp[64];      /* the word in brackets; "" when unreadable */
    char governor[32]; /* of CPU 0; "" when unreadable, as in most guests */
    char compiler[128];
    uint64_t memory_bytes;
    uint64_t page_bytes;
    unsigned n_cpus;
    unsigned n_nodes;
    bool is_guest;           /* the CPU says that a hypervisor runs it */
    bool has_constant_clock; /* ticks do not follow the CPU's frequency */
};

void lab_machine_describe(struct lab_machine *m);

/* CPUs that this process may use, ascending. 0 or negative errno. */
int lab_machine_cpus(unsigned *cpus, size_t room, size_t *n_cpus);

/* CPUs of a node; -ENOENT when the machine has no such node. */
int lab_machine_node_cpus(unsigned node, unsigned *cpus, size_t room, size_t *n_cpus);

/* "0" or "0-1": the nodes that this machine has. */
void lab_machine_nodes_text(char *text, size_t room);

/* Memory that the system could give now, in bytes; 0 when unknown. */
uint64_t lab_machine_available_bytes(void);

/* Nanoseconds of one tick, measured between two readings that are at least 50 ms apart. */
struct lab_clock {
    uint64_t ticks;
    uint64_t ns;
};
void lab_clock_start(struct lab_clock *c);
double lab_clock_tick_ns(const struct lab_clock *c);

#endif
