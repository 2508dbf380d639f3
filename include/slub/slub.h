/* SPDX-License-Identifier: MIT */
/**
 * @file slub.h
 * @brief Public API of slub, the slab allocator: size-class allocation and object caches.
 *
 * Conventions of every call below, unless it says otherwise:
 *   - sizes and alignments are in bytes;
 *   - a call that returns a pointer returns NULL on failure and sets errno; a call that returns int
 *     returns 0 or a negative errno value and leaves errno alone; no free call changes errno;
 *   - caller bugs (double free, interior or foreign pointer, object of another cache) end the process
 *     with one line on stderr, "slub: BUG <kind>: <call>(0x<addr>) cache=<name> size=<bytes> tid=<tid>",
 *     and SIGABRT; they never damage the heap;
 *   - every call may run concurrently with every other one, on the same cache too, except that
 *     slub_cache_destroy() must be the last call on its cache;
 *   - no call is async-signal-safe by promise; after fork() the child may use every call;
 *   - cost of the common case: no lock, no atomic read-modify-write, no system call.
 */
#ifndef SLUB_SLUB_H
#define SLUB_SLUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <slub/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUB_API __attribute__((visibility("default")))

/** Flags of the allocation calls. Any other bit makes the call fail with EINVAL. */
#define SLUB_ZERO 0x1u /**< the returned memory is all zero, over its whole usable size */

/** Flags of slub_cache_create(). Any other bit makes the call fail with EINVAL. */
#define SLUB_HWCACHE_ALIGN 0x1u /**< align objects to the cache line, small ones to a fraction of it */
#define SLUB_PANIC 0x2u         /**< abort with a report instead of returning NULL */
#define SLUB_NO_MERGE 0x4u      /**< never share slabs with another cache; today no cache does */

/**
 * @brief Set options from one string, spelled like SLUB_OPTIONS in the environment.
 *
 * @param options  for example "slab_freelist_random=strong slab_stats=1"; see slub_options(7).
 * @return 0; -EBUSY when the allocator is already in use; -EINVAL when an option is unknown or malformed
 *         (the good ones before it are kept, and the first bad one is named on stderr).
 * @threads call it before the first allocation; not thread-safe.
 */
SLUB_API int slub_options_set(const char *options);

/** @brief Version of the library in use, as "MAJOR.MINOR.PATCH". Static storage. */
SLUB_API const char *slub_version(void);

/* ---- size classes: the kmalloc of the library ------------------------------------------------- */

/**
 * @brief Allocate @p size bytes.
 *
 * @param size   0 gives the smallest block; more than PTRDIFF_MAX fails.
 * @param flags  0 or SLUB_ZERO.
 * @return block aligned to the largest power of two that divides its class: powers of two are aligned to
 *         themselves up to 64 KiB, every block of 16 bytes or more to at least 16.
 * @errors ENOMEM no memory from the system, or @p size over PTRDIFF_MAX; EINVAL unknown flag.
 * @threads any. @cost see the head of this file. @see slub_free
 */
SLUB_API void *slub_alloc(size_t size, unsigned flags) __attribute__((malloc, alloc_size(1)));

/** @brief slub_alloc() with SLUB_ZERO. */
SLUB_API void *slub_zalloc(size_t size) __attribute__((malloc, alloc_size(1)));

/** @brief Zeroed array of @p n elements of @p size bytes; ENOMEM when the product overflows. */
SLUB_API void *slub_calloc(size_t n, size_t size) __attribute__((malloc, alloc_size(1, 2)));

/**
 * @brief Allocate with an alignment.
 * @param align  power of two up to 1 GiB; else EINVAL.
 * @errors as slub_alloc(), and EINVAL for @p align.
 */
SLUB_API void *slub_aligned_alloc(size_t align, size_t size) __attribute__((malloc, alloc_size(2)));

/**
 * @brief Resize a block, moving it when it must.
 *
 * @param p     block from a size-class call, or NULL to allocate.
 * @param size  0 frees @p p and returns NULL.
 * @return the block, contents kept up to the smaller size; NULL with errno when it cannot grow, and then
 *         @p p is unchanged and still owned by the caller.
 * @cost in place within a class; blocks of 64 KiB and more grow by moving pages, not bytes.
 */
SLUB_API void *slub_realloc(void *p, size_t size);

/** @brief Free a block from any slub call, objects of caches included. NULL is allowed. */
SLUB_API void slub_free(void *p);

/** @brief slub_free() for callers that know the size; a wrong @p size is ignored in default mode. */
SLUB_API void slub_free_sized(void *p, size_t size);

/** @brief Zero the whole usable size of @p p, then free it. NULL is allowed. */
SLUB_API void slub_free_sensitive(void *p);

/** @brief Free @p n blocks of any classes and caches. NULL entries are skipped. */
SLUB_API void slub_free_bulk(size_t n, void *const *p);

/**
 * @brief Bytes that may be used at @p p; constant for the life of the block; 0 for NULL.
 * Use slub_good_size() before allocating to plan for the slack.
 */
SLUB_API size_t slub_usable_size(const void *p);

/** @brief What slub_usable_size() would answer for a block of @p size; @p size itself when over PTRDIFF_MAX. */
SLUB_API size_t slub_good_size(size_t size);

/* ---- object caches ---------------------------------------------------------------------------- */

struct slub_cache;

/** Optional arguments of slub_cache_create(); zero means default. Set @c size to sizeof the struct. */
struct slub_cache_args {
    size_t size;             /**< sizeof(struct slub_cache_args) of the caller */
    size_t align;            /**< alignment of objects, power of two up to 32 KiB; 0: 8 */
    unsigned sheaf_capacity; /**< least number of objects that each CPU may keep at hand; 0: tuned by use */
};

/**
 * @brief Create a cache of objects of one size.
 *
 * @param name   copied; 1 to 63 printable characters without blanks.
 * @param size   object size, 1 to 32768.
 * @param args   NULL or optional arguments.
 * @param flags  0 or an OR of the SLUB_ flags for caches.
 * @return the cache, owned by the caller until slub_cache_destroy().
 * @errors EINVAL bad argument; ENOMEM no memory; ENOSPC too many caches (about 4000).
 * @cost takes a lock; no slab is made before the first allocation.
 */
SLUB_API struct slub_cache *slub_cache_create(const char *name, size_t size,
                                              const struct slub_cache_args *args, unsigned flags);

/**
 * @brief Destroy an empty cache; NULL is a no-op.
 * @return 0; -EBUSY when objects are still live: they are counted on stderr and the cache stays usable.
 * Objects that sit in per-CPU sheaves or barns are gathered first and do not count.
 */
SLUB_API int slub_cache_destroy(struct slub_cache *cache);

/** @brief Give back what is free: sheaves, barn, empty slabs. @return 0 when no slab remains, 1 otherwise. */
SLUB_API int slub_cache_shrink(struct slub_cache *cache);

/**
 * @brief Take one object from @p cache.
 *
 * @param flags  0 or SLUB_ZERO.
 * @errors ENOMEM no memory from the system; EINVAL unknown flag.
 * @order happens-after the slub_cache_free() that released the object.
 */
SLUB_API void *slub_cache_alloc(struct slub_cache *cache, unsigned flags) __attribute__((malloc));

/** @brief slub_cache_alloc() with SLUB_ZERO. */
SLUB_API void *slub_cache_zalloc(struct slub_cache *cache) __attribute__((malloc));

/** @brief Free an object; it must be a live object of this @p cache. NULL is allowed. */
SLUB_API void slub_cache_free(struct slub_cache *cache, void *p);

/**
 * @brief Take @p n objects, all or none.
 * @return @p n, or 0 with errno ENOMEM or EINVAL; then nothing is kept and @p p is undefined.
 */
SLUB_API size_t slub_cache_alloc_bulk(struct slub_cache *cache, unsigned flags, size_t n, void **p);

/** @brief Free @p n objects of @p cache. */
SLUB_API void slub_cache_free_bulk(struct slub_cache *cache, size_t n, void *const *p);

/** @brief Object size in bytes, as given to slub_cache_create(). */
SLUB_API size_t slub_cache_size(const struct slub_cache *cache);

#ifdef __cplusplus
}
#endif
#endif
