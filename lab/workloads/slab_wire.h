/* SPDX-License-Identifier: MIT */
/* What a worker hands back: the layout of the memory that runner and worker share, and the channel.
 *
 * The memory holds one struct slab_wire_head, then n_sizes struct slab_wire_size, then the samples:
 * uint64_t ticks[n_sizes][n_lanes][n_columns][n_repeats]. Runner and worker come from one build, so
 * the version only guards against a mixed installation.
 */
#ifndef SLUB_LAB_SLAB_WIRE_H
#define SLUB_LAB_SLAB_WIRE_H

#include <slub/stats.h>

#include <stdint.h>

enum slab_test_id {
#define SLAB_TEST(id, number, name, heading, label, lanes, columns, group, help) SLAB_TEST_##id,
#include "workloads/slab_tests.def"
#undef SLAB_TEST
    SLAB_N_TESTS
};

#define SLAB_WIRE_MAGIC   "SLABWIRE"
#define SLAB_WIRE_VERSION 1u

/* Inherited descriptors of a worker. */
#define SLAB_FD_RESULT 3 /* the shared memory */
#define SLAB_FD_CHANNEL \
    4 /* socket: worker writes one byte when it has measured, runner when it may go */

#define SLAB_MAX_SIZES   32
#define SLAB_MAX_COLUMNS 2

enum slab_state {
    SLAB_STATE_STARTED,  /* what the runner leaves there: the worker did not get far */
    SLAB_STATE_REFUSED,  /* another allocator owns the calls; message says which */
    SLAB_STATE_FAILED,   /* message says why */
    SLAB_STATE_MEASURED, /* everything is valid but rss_idle_bytes, idle_ns */
    SLAB_STATE_DONE
};

struct slab_wire_head {
    char magic[8];
    uint32_t version;
    uint32_t state;         /* enum slab_state, written last */
    char message[256];      /* one line for REFUSED and FAILED */
    char owner[512];        /* file that defines the measured calls */
    char alloc_version[64]; /* what the allocator says of itself, "" when it does not */
    char mode[16];          /* slub only, as in struct slub_info */
    char percpu[16];
    char percpu_index[16];
    uint32_t has_counters; /* slub only: the counters of slab_wire_size are valid */
    uint32_t n_sizes;
    uint32_t n_lanes; /* series of samples: threads that are timed */
    uint32_t n_columns;
    uint32_t n_repeats;
    uint64_t ops[SLAB_MAX_COLUMNS]; /* operations that one sample covers, by column */
    uint64_t rss_start_bytes;       /* after start-up, before the first size */
    uint64_t rss_end_bytes;         /* after the last free of the last size */
    uint64_t rss_idle_bytes;        /* after idle_ns without a call */
    uint64_t rss_peak_bytes;
    uint64_t idle_ns;
};

struct slab_wire_size {
    uint64_t size_bytes;
    uint64_t n_allocs; /* calls in the measured part, all threads and repeats */
    uint64_t n_frees;
    uint64_t counter[SLUB_N_STATS]; /* growth over the measured part, or SLUB_NOT_COUNTED */
};

static inline uint64_t *slab_wire_ticks(void *base, const struct slab_wire_head *h)
{
    return (uint64_t *)((char *)base + sizeof(*h) + h->n_sizes * sizeof(struct slab_wire_size));
}

static inline struct slab_wire_size *slab_wire_sizes(void *base)
{
    return (struct slab_wire_size *)((char *)base + sizeof(struct slab_wire_head));
}

static inline uint64_t slab_wire_bytes(uint64_t n_sizes, uint64_t n_lanes, uint64_t n_columns,
                                       uint64_t n_repeats)
{
    return sizeof(struct slab_wire_head) + n_sizes * sizeof(struct slab_wire_size) +
           n_sizes * n_lanes * n_columns * n_repeats * sizeof(uint64_t);
}

/* Place of a sample in slab_wire_ticks(). */
static inline uint64_t slab_wire_index(const struct slab_wire_head *h, uint64_t size, uint64_t lane,
                                       uint64_t column)
{
    return ((size * h->n_lanes + lane) * h->n_columns + column) * h->n_repeats;
}

#endif
