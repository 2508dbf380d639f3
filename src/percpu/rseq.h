/* SPDX-License-Identifier: MIT */
/* The restartable sequences behind the rseq back end: contract of the assembly in arch/<cpu>/.
 *
 * Layer: L6, inside the directory. All of them number the area by the word at hot.rseq_id_offset from the
 * thread pointer, work on that area only, and end in one store, the commit. When the thread is preempted,
 * migrated or interrupted by a signal before the commit, the kernel sends it back to the start; nothing that
 * was stored before the commit can be seen by others (it lies above `pos`, or in an array without slot).
 *
 *   operation   checks                     stores before the commit     commit
 *   ----------------------------------------------------------------------------------------------
 *   pop         pos > begin                –                            pos = pos - 1
 *   push        pos < end                  entry at pos                 pos = pos + 1
 *   pop_bulk    pos > begin                copies to the caller         pos = pos - k
 *   push_bulk   pos < end                  k entries from pos on        pos = pos + k
 *   move_slot   area is `cpu`, pos >= begin  entries into the new array  pos and begin, as one word
 *
 * Positions count entries here, words in the slot.
 * The area that the fast path writes its descriptor to is the one that libc registered; where there is none,
 * hot.rseq_*_offset point into 16 bytes of our own thread-local storage, and the area numbered 0 there is one
 * of zeros, in which every slot is closed. In which order hot is filled in: region/layout.h. */
#ifndef SLUB_PERCPU_RSEQ_H
#define SLUB_PERCPU_RSEQ_H

#include "base/compiler.h"
#include "slab/entry.h"

/* n is not 0. */
size_t percpu_rseq_push_bulk(unsigned id, const struct entry *e, size_t n);
size_t percpu_rseq_pop_bulk(unsigned id, struct entry *e, size_t n);

/* Move the slot of `id` on `cpu`, if the caller runs there, to the array at word `to`, with what is in it. The end
 * must be closed before and opened after. 1, or 0 when the caller runs elsewhere or the slot is closed for pop. */
int percpu_rseq_move_slot(unsigned cpu, unsigned id, unsigned to);

/* Have descriptors written to where libc registered them, if it did. While the process has one thread. */
void percpu_rseq_prepare(void);

/* Number areas by mm_cid where the kernel has it (`by_cid`) or by cpu_id, and open them. `closed` are as many areas of
 * zeros that stay so. False when this libc, kernel or thread has no sequences, or fences are refused. */
bool percpu_rseq_init(bool by_cid, char *closed, char *areas, const char **index_name);

/* Never open: descriptors and numbers go to storage of our own. */
void percpu_rseq_disable(void);

/* Put all areas out of reach, and back: one store. */
void percpu_rseq_set_base(char *base);

/* Number of the caller's area at this moment. */
unsigned percpu_rseq_where(void);

/* The CPU the caller runs on at this moment. */
unsigned percpu_rseq_cpu(void);

#endif
