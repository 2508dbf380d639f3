/* SPDX-License-Identifier: MIT */
/* Answers to a thread that is inside the allocator already: a signal handler that interrupted a
 * slow path, or a fork handler that runs while its thread holds every lock for the fork.
 *
 * Layer: L7. Waiting for a lock there could be waiting for oneself, so nothing here takes one. A
 * block is a mapping of its own, found by a table; what is freed is put off, and whoever comes next
 * with free hands takes it back. The common case of malloc and free needs none of this: the fast
 * path works in handlers as it is. */
#ifndef SLUB_CACHE_STOPGAP_H
#define SLUB_CACHE_STOPGAP_H

#include "base/compiler.h"

struct slub_cache;

/* A block of zeros, freed by stopgap_free(); `c` is the cache it stands in for, or NULL. NULL when
 * memory or the table is full. */
void *stopgap_alloc(size_t size, size_t align, const struct slub_cache *c);

/* The block that begins at p: its usable bytes, 0 when there is none; *c (may be NULL) is its
 * cache. */
size_t stopgap_find(const void *p, const struct slub_cache **c);

/* False when none begins at p, or another thread freed it first. */
bool stopgap_free(void *p);

/* Some block stands in for an object of this cache. */
bool stopgap_serves(const struct slub_cache *c);

/* Keep p for stopgap_take_back(). When there is no memory to note it in, it is lost. */
void stopgap_put_off(void *p);

/* Hand everything that was put off to `give`. */
void stopgap_take_back(void (*give)(void *p));

#endif
