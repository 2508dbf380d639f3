/* SPDX-License-Identifier: MIT */
/* One measuring process, seen from the runner: started, waited for, released. */
#ifndef SLUB_LAB_WORKER_PROC_H
#define SLUB_LAB_WORKER_PROC_H

#include "workloads/slab_wire.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lab_worker {
    pid_t pid;    /* 0: none */
    int channel;  /* our end of the socket */
    void *shared; /* struct slab_wire_head and what follows */
    size_t shared_bytes;
    uint64_t measured_ns; /* CLOCK_MONOTONIC_RAW, when it began to idle */
};

/* Shape of the samples that the worker will write. */
struct lab_shape {
    uint32_t n_sizes;
    uint32_t n_lanes;
    uint32_t n_columns;
    uint32_t n_repeats;
};

/* 0 or negative errno. argv[0] is the program. */
int lab_worker_start(struct lab_worker *w, char *const *argv, char *const *env,
                     const struct lab_shape *shape);

/* Waits until it has measured. 0; -1 when it ended, refused or ran out of time: then one line in
 * @why and the worker is gone. */
int lab_worker_wait_measured(struct lab_worker *w, unsigned timeout_s, char *why, size_t room);

/* Lets it look at its memory once more and end. 0, or -1 with one line in @why. The shared memory
 * stays until lab_worker_release(). */
int lab_worker_finish(struct lab_worker *w, char *why, size_t room);

/* Ends the process when it still runs, and unmaps. Harmless on a zeroed struct. */
void lab_worker_release(struct lab_worker *w);

#endif
