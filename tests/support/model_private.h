/* SPDX-License-Identifier: MIT */
/* What the parts of the model share: blocks, workers, and the state of one run. */
#ifndef SLUB_TESTS_MODEL_PRIVATE_H
#define SLUB_TESTS_MODEL_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "model.h"
#include "rng.h"

enum { MODEL_EXCHANGES = 64 };

struct model_block {
    unsigned char *p; /* NULL: no block */
    size_t bytes;     /* asked for */
    size_t usable;    /* stamped */
    uint64_t id;      /* of the stamp */
    unsigned kind;
};

struct model_worker {
    struct model_run *run;
    struct model_block *blocks;
    struct rng rng;
    pthread_t thread;
    unsigned index;
    bool is_running; /* only the conductor reads and writes it */
    atomic_bool is_over;
    atomic_uint_fast64_t n_ops, n_forks;
    uint64_t n_stamps;
};

/* Where a block changes its owner. */
struct model_exchange {
    pthread_mutex_t lock;
    struct model_block block;
};

struct model_run {
    const struct model_config *config;
    size_t max_bytes;
    unsigned n_slots;
    struct model_worker *workers;
    struct model_exchange exchanges[MODEL_EXCHANGES];
    atomic_bool must_stop;
    atomic_bool has_failed;
};

/* One random operation of a worker. */
void model_step(struct model_worker *w);

/* Check a block against its stamp and free it; the slot is empty afterwards. */
void model_drop(struct model_worker *w, struct model_block *b);

/* Report a broken rule, once, and stop the run. */
void model_fail(struct model_run *run, const struct model_block *b, const char *rule,
                size_t detail);

/* Signals and moves for running workers; storms of one run at a time. */
void model_storm_begin(const struct model_config *config);
void model_storm_tick(struct model_worker *w, struct rng *r);
uint64_t model_storm_end(const struct model_config *config);

#endif
