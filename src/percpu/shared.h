/* SPDX-License-Identifier: MIT */
/* The back ends without restartable sequences: areas behind locks, one a thread or a fixed number.
 *
 * Layer: L6, inside the directory. The lock of an area is its own; a caller that finds it taken (by a drain, or
 * by itself below a signal handler) does not wait but goes the slow way. */
#ifndef SLUB_PERCPU_SHARED_H
#define SLUB_PERCPU_SHARED_H

#include "percpu/percpu.h"

/* Areas that anybody may use: the lock back end, and threads that have none of their own (any more). */
void shared_init(char *areas, unsigned n_areas);

/* Give threads areas of their own from now on; `sink` gets what is in them when the thread ends. */
bool shared_init_threads(percpu_sink *sink);

size_t shared_push_bulk(unsigned id, const struct entry *e, size_t n);
size_t shared_pop_bulk(unsigned id, struct entry *e, size_t n);
size_t shared_batch(unsigned id, unsigned cheap_order, unsigned max_order, bool *grown);
unsigned shared_drain(unsigned first, unsigned end, percpu_sink *sink);
uint64_t shared_n_objs(unsigned id);
unsigned shared_capacity(unsigned id);
void shared_fork_prepare(void);
void shared_fork_release(void);
void shared_fork_child(void);

#endif
