/* SPDX-License-Identifier: MIT */
/**
 * @file stats.h
 * @brief What the allocator knows of itself: one snapshot call, one printer, and the root for tools.
 *
 * Live objects and bytes are exact whenever no other thread is inside the allocator. Counters of
 * transitions (SLUB_STAT_*) are counted where a lock is held anyway and are exact too; the two fast-path
 * counters exist only under slab_stats=1 and are SLUB_NOT_COUNTED otherwise.
 */
#ifndef SLUB_STATS_H
#define SLUB_STATS_H

#include <slub/slub.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The value of a counter that is not being counted. */
#define SLUB_NOT_COUNTED UINT64_MAX

/** Counters per cache. One line each: name, what one count means. */
#define SLUB_STATS(X)                                                                         \
    X(ALLOC_FASTPATH, "object taken from this CPU's sheaf (only under slab_stats=1)")         \
    X(FREE_FASTPATH, "object put into this CPU's sheaf (only under slab_stats=1)")            \
    X(ALLOC_SLOWPATH, "allocation that found no object in this CPU's sheaf")                  \
    X(FREE_SLOWPATH, "free that found no room in this CPU's sheaf")                           \
    X(SHEAF_REFILL, "objects moved into this CPU's sheaf by a refill")                        \
    X(SHEAF_FLUSH, "objects moved out of this CPU's sheaf by a flush")                        \
    X(SHEAF_GROW, "a CPU's sheaf got more room")                                              \
    X(BARN_GET, "objects taken from the barn")                                                \
    X(BARN_GET_FAIL, "request that this CPU's barn could not serve")                           \
    X(BARN_PUT, "objects put into the barn")                                                  \
    X(BARN_PUT_FAIL, "objects that the barn had no room for")                                 \
    X(BARN_TRIM, "objects that the barn gave back to slabs: idle, drained, or wanted elsewhere") \
    X(SLAB_TAKE, "objects taken from slabs")                                                  \
    X(SLAB_GIVE, "objects given back to slabs")                                               \
    X(SLAB_NEW, "slab made from fresh address space")                                         \
    X(SLAB_REUSE, "empty slab taken into use again")                                          \
    X(SLAB_EMPTY, "slab whose last object came back")                                         \
    X(SLAB_FREE, "empty slab whose pages went back to the system")                            \
    X(REMOTE_FREE, "object given back to a slab that other CPUs, or another node, take from") \
    X(ORDER_FALLBACK, "memory got in the smallest step because the larger one was refused")   \
    X(SLAB_FAIL, "request that no slab could serve: out of memory")

enum slub_stat {
#define X(name, help) SLUB_STAT_##name,
    SLUB_STATS(X)
#undef X
        SLUB_N_STATS
};

/** Snapshot of one cache or size class. Grows at the end only. */
struct slub_cache_info {
    size_t size;               /**< in: sizeof(struct slub_cache_info) of the caller */
    char name[64];             /**< "kmalloc-64", "kmalloc-1k", "large", or the name given */
    uint64_t object_bytes;     /**< object size asked for */
    uint64_t stride_bytes;     /**< distance of objects in the slab */
    uint64_t align_bytes;      /**< guaranteed alignment */
    uint64_t objects_per_slab; /**< objects that one slab holds; 1 for "large" */
    uint64_t slab_bytes;       /**< address space of one slab; 0 for "large" */
    uint64_t slabs;            /**< slabs that hold live or cached objects */
    uint64_t slabs_partial;    /**< … of which with free objects */
    uint64_t slabs_empty;      /**< empty slabs that still hold pages */
    uint64_t slabs_clean;      /**< empty slabs without pages: address space only */
    uint64_t objects_live;     /**< objects in the hands of the program */
    uint64_t objects_cached;   /**< free objects in sheaves and barns */
    uint64_t objects_total;    /**< objects in all slabs that hold pages */
    uint64_t live_bytes;       /**< objects_live times the stride; usable bytes for "large" */
    uint64_t sheaf_capacity;   /**< largest sheaf of any CPU now, objects */
    uint64_t stat[SLUB_N_STATS];
};

/** Snapshot of the whole allocator. Grows at the end only. */
struct slub_info {
    size_t size;             /**< in: sizeof(struct slub_info) of the caller */
    char version[16];        /**< of the library */
    char mode[16];           /**< "default" or "fast" */
    char percpu[16];         /**< back end in use: "rseq", "thread" or "lock" */
    char percpu_index[16];   /**< what numbers the sheaves: "mm_cid", "cpu_id", "thread" or "hash" */
    uint64_t n_caches;       /**< caches, size classes and "large" included */
    uint64_t live_objects;   /**< over all caches */
    uint64_t live_bytes;     /**< over all caches */
    uint64_t reserved_bytes; /**< address space reserved for objects */
    uint64_t mapped_bytes;   /**< … of which readable and writable */
    uint64_t dirty_bytes;    /**< free memory that still holds pages, at most the dirty caps */
    uint64_t meta_bytes;     /**< metadata in use */
    uint64_t foreign_frees;  /**< frees of addresses that are not ours, ignored */
    uint64_t drain_skipped;  /**< sheaves of running CPUs that could not be drained */
    uint64_t large_guards;   /**< large blocks with a guard behind them */
    uint64_t guards_refused; /**< 1 when the system refused a guard: later blocks get none */
};

/**
 * @brief Take a snapshot.
 *
 * @param info     filled when not NULL.
 * @param caches   array of @p n entries, each with its @c size set; may be NULL when @p n is 0.
 * @return number of caches that exist, also when more than @p n; -EINVAL for a bad @c size.
 * @threads any; takes each cache's lock in turn. Allocates nothing.
 */
SLUB_API int slub_snapshot(struct slub_info *info, struct slub_cache_info *caches, size_t n);

/** @brief Name of a counter, "ALLOC_SLOWPATH"; NULL when out of range. */
SLUB_API const char *slub_stat_name(unsigned stat);

/**
 * @brief Write the slab table in the columns of /proc/slabinfo (version 2.1) to a file descriptor.
 * @return 0 or a negative errno of write(2). Allocates nothing.
 */
SLUB_API int slub_slabinfo_write(int fd);

/** Where a tool finds everything, in a running, stopped or dead process: the exported symbol slub_root. */
struct slub_root {
    char magic[8];         /**< "SLUBROOT" */
    uint32_t layout;       /**< version of this struct: 1 */
    uint32_t size;         /**< sizeof(struct slub_root) */
    char version[16];      /**< of the library */
    char mode[16];         /**< as in struct slub_info */
    char percpu[16];       /**< back end, "" before first use */
    char percpu_index[16]; /**< as in struct slub_info */
    uint32_t malloc_owner; /**< 1 when this library defines malloc */
    uint32_t page_bytes;   /**< page size in use, 0 before first use */
};
SLUB_API extern struct slub_root slub_root;

#ifdef __cplusplus
}
#endif
#endif
