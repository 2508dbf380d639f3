/* SPDX-License-Identifier: MIT */
/* Watch, and make fail, the memory calls that the process makes to the system, whoever makes them.
 *
 * A seccomp filter hands mmap, munmap, mremap, madvise and mprotect of the calling thread and of
 * all threads that it starts later to a supervisor thread, which counts them and answers some with
 * ENOMEM. It works for any allocator, also one that issues raw system calls. There is no way back:
 * use it in a child. */
#ifndef SLUB_TESTS_OSWATCH_H
#define SLUB_TESTS_OSWATCH_H

#include <stdbool.h>

/* False, with the reason in *why, where the kernel refuses. */
bool oswatch_start(const char **why);

/* Calls since the start or the last oswatch_fail(). */
unsigned long oswatch_calls(void);

/* Fail call number `nth` from now (1: the next; 0: none), and with `forever` all that follow. */
void oswatch_fail(unsigned long nth, bool forever);

/* Calls that were made to fail so far. */
unsigned long oswatch_failed(void);

#endif
