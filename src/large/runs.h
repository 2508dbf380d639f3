/* SPDX-License-Identifier: MIT */
/* Runs of granules, free and used, and the bins of free ones.
 *
 * Layer: L7, inside the directory. All calls need large_lock. A run's record is found from the address map entry
 * of its first and last granule; a used run has entries in all its granules, so that any address inside is
 * known to be inside. */
#ifndef SLUB_LARGE_RUNS_H
#define SLUB_LARGE_RUNS_H

#include "base/list.h"
#include "region/gmap.h"

/* HELD: taken out of its bin, or out of use, by somebody who may have let go of the lock; nobody joins with it. */
enum run_state { RUN_FREE = 2, RUN_USED, RUN_HELD, RUN_DIRECT };

struct large {
    uint8_t lg_not_live; /* 0: the fast path of free reads it as a state byte and leaves */
    uint8_t lg_state;    /* enum run_state */
    bool lg_guarded;     /* used: there is a guard behind lg_bytes [owner of the block] */
    uint32_t lg_n;       /* granules */
    uint64_t lg_first;   /* granule; for RUN_DIRECT the address */
    union {
        uint64_t lg_bytes; /* used: usable bytes */
        struct {           /* free and dirty: all its pages are in so many granules from this one of its own on */
            uint32_t lg_dirty_at, lg_dirty_n;
        };
    };
    uint64_t lg_dirty;   /* free: bytes that may have pages, 0: all zero; used: 0 */
    struct list lg_link; /* free: in its bin; direct: in the list of direct blocks */
    struct list lg_age;  /* free and dirty: oldest last */
};

/* What metadata is given out by; and records of a size that nothing else has are not to be had when memory is out. */
_Static_assert(sizeof(struct large) == 64, "a record is one unit of metadata");

SLUB_FAST uint64_t run_bytes(const struct large *lg) { return (uint64_t)lg->lg_n << SLUB_GRANULE_SHIFT; }

/* A short free run with room for n granules whose first is a multiple of `align` (in address),
 * taken out of its bin; NULL when there is none. */
struct large *runs_take_free(uint64_t n, uint64_t align);

/* Granules to leave out at the start of a run for such a piece. */
uint64_t runs_skip(const struct large *lg, uint64_t align);

/* The free run that begins at, or ends before, this granule, taken out of its bin; NULL when it is not free. */
struct large *runs_take_after(uint64_t granule);
struct large *runs_take_before(uint64_t granule);

/* Put a run into its bin as free, joining it with its free neighbours. */
void runs_put_free(struct large *lg);

/* Oldest dirty free run, taken out; NULL when there is none. */
struct large *runs_take_oldest_dirty(void);

/* Any granule of the run may have pages, at most `bytes` together; 0: how many is not known. */
void runs_set_dirty(struct large *lg, uint64_t bytes);

/* Cut `lg` after n granules; the rest becomes a run of its own, HELD. NULL when there is no record for it. */
struct large *runs_split(struct large *lg, uint64_t n);

/* Set the address map entries of a used run from its granule number `from` on. */
void runs_map_used(struct large *lg, uint64_t from);

/* A record for granules [first, first + n). NULL when memory is out. */
struct large *runs_record(uint64_t first, uint64_t n);
void runs_drop_record(struct large *lg);

uint64_t runs_n_free(void);
void runs_init(void);

#endif
