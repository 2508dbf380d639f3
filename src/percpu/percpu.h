/* SPDX-License-Identifier: MIT */
/* The sheaf of each CPU: free objects at hand, one array a cache.
 *
 * Layer: L6; called by cache. The common case never comes here: it is the assembly of arch/ (fastpath.h).
 * Here are the bulk moves of the slow path, the room of sheaves, draining, and the three back ends:
 *
 *   rseq     one area per CPU (numbered by mm_cid, or by cpu_id), changed in restartable sequences
 *   thread   one area per thread, changed by its thread only; handed back when the thread ends
 *   lock     a fixed number of areas, each behind a lock, chosen by the CPU the caller happens to run on
 *
 * With thread and lock the fast path finds closed slots in an area of zeros and leaves for the slow path,
 * so that one entry point serves all.
 *
 * Changing the slot of a running CPU (rseq), the only way, under the maintenance lock:
 *   1. store closed bounds                      later sections see them and leave
 *   2. os_fence()                               sections that read the old ones are restarted
 *   3. now `pos` and the array are still: read, move, or empty them; store `pos`
 *   4. os_fence()                               sections that read the old `pos` are restarted
 *   5. store open bounds
 * When the fence is refused (a sandbox, or slab_fence=0), the slot is opened again as it was and the request answers
 * "no"; only what the caller's own CPU has at hand is taken, by popping.
 * A slot of the caller's own CPU can be changed in a restartable sequence instead (percpu_rseq_move_slot).
 *
 * Invariant: S1 an object is in at most one slot; S2 objects in slots are free (state byte 0). */
#ifndef SLUB_PERCPU_PERCPU_H
#define SLUB_PERCPU_PERCPU_H

#include "barn/barn.h"
#include "base/compiler.h"
#include "base/lock.h"
#include "percpu/layout.h"

enum percpu_backend { BACKEND_NONE, BACKEND_RSEQ, BACKEND_THREAD, BACKEND_LOCK };

/* Objects that leave an area at a time: a KiB of stack. */
#define PERCPU_CHUNK 64

/* Called with objects that leave a slot; they are the callee's now. */
typedef void percpu_sink(unsigned id, struct entry *e, size_t n);

/* How many bytes the areas of all CPUs need, closed ones included; asked before the reservation is made. */
size_t percpu_area_bytes(void);

/* What is cheap only while the process has one thread. May be left out. */
void percpu_prepare(void);

/* Choose the back end (options.percpu) and open for business. `sink` takes what leaves when threads end. */
void percpu_init(char *area, size_t bytes, percpu_sink *sink);

enum percpu_backend percpu_backend(void);
const char *percpu_backend_name(void);
const char *percpu_index_name(void);

/* The CPU the caller runs on at this moment; 0 where that is unknown. */
unsigned percpu_cpu(void);

/* Move up to n objects into or out of the caller's slot; returns how many. Out: the latest. */
size_t percpu_push_bulk(unsigned id, const struct entry *e, size_t n);
size_t percpu_pop_bulk(unsigned id, struct entry *e, size_t n);

/* Objects to move at a time now: half the room of the caller's slot, at least 1. Counts a miss; after some
 * misses the slot gets twice the room, soon up to sheaves of `cheap_order` (see SHEAF_OBJS), late up to `max_order`.
 * *grown tells. */
size_t percpu_batch(unsigned id, unsigned cheap_order, unsigned max_order, bool *grown);

/* Empty the slots of one cache (or of all, PERCPU_ALL) in every area, in batches to `sink`. With `close`, they
 * stay closed. Returns the number of areas that could not be drained. */
#define PERCPU_ALL SLUB_MAX_CACHES
unsigned percpu_drain(unsigned id, bool close, percpu_sink *sink);

/* Objects in all slots of a cache, exact when nobody is inside; room of its largest slot. */
uint64_t percpu_n_objs(unsigned id);
unsigned percpu_capacity(unsigned id);

/* Drains that were refused so far, in areas. */
uint64_t percpu_drain_skipped(void);

/* Fork: hold what could be half-done, and let go in parent and child. */
void percpu_fork_prepare(void);
void percpu_fork_release(void);

/* In the child: put everything out of reach until percpu_adopt(). Children that only exec pay nothing; the others do
 * not allocate the addresses that their parent allocates next, and lose nothing that other threads had at hand.
 * percpu_adopt() is true for the caller that did it. */
void percpu_fork_child(void);
bool percpu_adopt(percpu_sink *sink);

#endif
