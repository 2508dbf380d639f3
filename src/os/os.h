/* SPDX-License-Identifier: MIT */
/* What the allocator asks of the system. The contract, stated once:
 *   - addresses and sizes are multiples of the page size, sizes are not 0;
 *   - results are 0 or a negative errno; pointers are NULL on failure; errno is never touched;
 *   - any call may fail at any time; no call retries; nothing here allocates or opens a file.
 *
 * Layer: L1. os_linux.c is the only implementation; all of memory and CPU management goes through it, so
 * that tests can fail the n-th call (os/fault.h). */
#ifndef SLUB_OS_OS_H
#define SLUB_OS_OS_H

#include "base/compiler.h"

/* Address space without access and without commit charge. */
void *os_reserve(size_t bytes);
int os_release(void *p, size_t bytes);

/* Make reserved pages readable: zeros without memory behind them and without commit charge. */
int os_show_zeros(void *p, size_t bytes);

/* Make reserved pages readable and writable. Fresh ones read as zero. */
int os_commit(void *p, size_t bytes);

/* Map exactly there what nobody has mapped, as committed pages of a reservation are. */
int os_map_at(void *p, size_t bytes);

/* Committed pages are reserved ones again. */
int os_decommit(void *p, size_t bytes);

/* Give the pages back, keep the addresses; they read as zero afterwards. */
int os_purge(void *p, size_t bytes);

/* Give fresh pages of a committed range memory at once: cheaper than a fault for each. */
int os_populate(void *p, size_t bytes);

/* Committed pages that fault on every access, without a mapping of their own; their contents are lost. They stay so
 * until they are given back by os_unguard(), as zeros. -EINVAL: the kernel cannot, or the pages are locked. After
 * another failure some of the pages may be guarded. */
int os_guard(void *p, size_t bytes);
int os_unguard(void *p, size_t bytes);

/* Transparent huge pages: keep out of them, or ask for them. */
int os_nohugepage(void *p, size_t bytes);
int os_hugepage(void *p, size_t bytes);

/* Move the pages of `from` to `to` (both committed); `from` reads as zero afterwards and stays mapped. */
int os_move(void *from, void *to, size_t bytes);

/* Plain mapping of its own, readable and writable, for blocks that no reservation holds. */
void *os_map(size_t bytes);
/* Resize such a mapping, moving it when it must. */
void *os_remap(void *p, size_t old_bytes, size_t bytes);

size_t os_page_size(void);
uint64_t os_memory_bytes(void);        /* physical memory; 0 when unknown */
uint64_t os_address_limit(void);       /* RLIMIT_AS; UINT64_MAX when none */
unsigned os_cpu_bound(void);           /* every CPU number and concurrency id is below this */
unsigned os_cpu_count(void);           /* CPUs that the process may run on now, at least 1 */
unsigned os_node_bound(void);          /* every memory node number is below this; 1 when unknown */
void os_where(unsigned *cpu, unsigned *node); /* of the calling thread, now; 0 when unknown */
bool os_is_single_threaded(void);      /* libc knows that there is one thread; false when it cannot tell */
bool os_is_secure(void);               /* AT_SECURE: the environment is not to be trusted */
unsigned os_rseq_feature_size(void);   /* AT_RSEQ_FEATURE_SIZE; 0 when the kernel does not say */
uint64_t os_clock_ms(void);            /* monotonic, coarse */

/* Random bytes from the system: without waiting; false when it has none. */
bool os_random(void *p, size_t bytes);
const void *os_given_random(void);     /* 16 bytes that the kernel drew at exec; NULL when it did not */

/* Restart every restartable sequence that runs now in this process. Register before threads exist. */
int os_fence_register(void);
int os_fence(void);

#endif
