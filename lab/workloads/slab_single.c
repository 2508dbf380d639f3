/* SPDX-License-Identifier: MIT */
/* Owns the loops of slab_test that one thread runs: batch, pair, shuffled, small batches, mixed
 * sizes.
 *
 * A loop holds the call, the touch and the store of the pointer and nothing else; what it costs
 * beside the call is the control library's figure in the same run.
 */
#include "workloads/slab_worker.h"

#include "workloads/slab_api.h"
#include "workloads/ticks.h"

static void set_ops(struct slab_worker *w, size_t per_repeat)
{
    w->allocs_per_repeat = per_repeat;
    for (unsigned c = 0; c < SLAB_MAX_COLUMNS; c++)
        w->head->ops[c] = per_repeat;
}

static void prepare_all(struct slab_worker *w)
{
    set_ops(w, w->params.count);
}

static void run_batch(struct slab_worker *w, struct slab_lane *lane)
{
    const size_t n = w->params.count;
    const size_t size = w->size;
    void **objs = lane->objs;

    const uint64_t start = ticks_now();
    for (size_t i = 0; i < n; i++) {
        void *p = slab_obj_alloc(w, size);
        slab_obj_touch(p);
        objs[i] = p;
    }
    const uint64_t middle = ticks_now();
    for (size_t i = 0; i < n; i++) {
        void *p = objs[i];
        slab_obj_touch(p);
        slab_obj_free(p);
    }
    lane->ticks[0] = middle - start;
    lane->ticks[1] = ticks_now() - middle;
}

static void run_pair(struct slab_worker *w, struct slab_lane *lane)
{
    const size_t n = w->params.count;
    const size_t size = w->size;

    const uint64_t start = ticks_now();
    for (size_t i = 0; i < n; i++)
        slab_obj_free(slab_obj_alloc(w, size));
    lane->ticks[0] = ticks_now() - start;
}

static void run_shuffled(struct slab_worker *w, struct slab_lane *lane)
{
    const size_t n = w->params.count;
    const size_t size = w->size;
    const uint32_t *order = w->order;
    void **objs = lane->objs;

    const uint64_t start = ticks_now();
    for (size_t i = 0; i < n; i++) {
        void *p = slab_obj_alloc(w, size);
        slab_obj_touch(p);
        objs[i] = p;
    }
    const uint64_t middle = ticks_now();
    for (size_t i = 0; i < n; i++) {
        void *p = objs[order[i]];
        slab_obj_touch(p);
        slab_obj_free(p);
    }
    lane->ticks[0] = middle - start;
    lane->ticks[1] = ticks_now() - middle;
}

size_t slab_batch_objs(enum slab_test_id test)
{
    switch (test) {
    case SLAB_TEST_BATCH_1:
        return 1;
    case SLAB_TEST_BATCH_10:
        return 10;
    case SLAB_TEST_BATCH_100:
        return 100;
    case SLAB_TEST_BATCH_1000:
        return 1000;
    default:
        return 0;
    }
}

/* The batch, or all objects when there are fewer. */
static size_t batch_of(const struct slab_worker *w)
{
    const size_t batch = slab_batch_objs(w->params.test);
    return batch < w->params.count ? batch : w->params.count;
}

static void prepare_small_batches(struct slab_worker *w)
{
    set_ops(w, w->params.count / batch_of(w) * batch_of(w));
}

static void run_small_batches(struct slab_worker *w, struct slab_lane *lane)
{
    const size_t batch = batch_of(w);
    const size_t n_batches = w->params.count / batch;
    const size_t size = w->size;
    void **objs = lane->objs;

    const uint64_t start = ticks_now();
    for (size_t b = 0; b < n_batches; b++) {
        for (size_t i = 0; i < batch; i++) {
            void *p = slab_obj_alloc(w, size);
            slab_obj_touch(p);
            objs[i] = p;
        }
        for (size_t i = 0; i < batch; i++) {
            void *p = objs[i];
            slab_obj_touch(p);
            slab_obj_free(p);
        }
    }
    lane->ticks[0] = ticks_now() - start;
}

/* Sizes: every power of two up to the row's size is as likely as the next, uniform below it. */
static void prepare_mixed(struct slab_worker *w)
{
    uint64_t seed = w->params.seed;
    unsigned top = 3;
    while (((size_t)1 << (top + 1)) <= w->size)
        top++;
    for (size_t i = 0; i < w->params.count; i++) {
        const uint64_t r = slab_random_next(&seed);
        const size_t limit = (size_t)1 << (3 + r % (top - 2));
        size_t size = limit / 2 + 1 + (r >> 8) % (limit / 2);
        w->mixed_sizes[i] = (uint32_t)(size < w->size ? size : w->size);
        w->order[i] = (uint32_t)((r >> 32) % w->params.count);
        w->lanes[0].objs[i] = slab_obj_alloc(w, w->mixed_sizes[i]);
    }
    set_ops(w, w->params.count);
}

static void run_mixed(struct slab_worker *w, struct slab_lane *lane)
{
    const size_t n = w->params.count;
    const uint32_t *order = w->order;
    const uint32_t *sizes = w->mixed_sizes;
    void **objs = lane->objs;

    const uint64_t start = ticks_now();
    for (size_t i = 0; i < n; i++) {
        void **slot = &objs[order[i]];
        slab_obj_touch(*slot);
        slab_obj_free(*slot);
        void *p = slab_obj_alloc(w, sizes[i]);
        slab_obj_touch(p);
        *slot = p;
    }
    lane->ticks[0] = ticks_now() - start;
}

static void finish_mixed(struct slab_worker *w)
{
    for (size_t i = 0; i < w->params.count; i++)
        slab_obj_free(w->lanes[0].objs[i]);
}

const struct slab_body *slab_single_body(enum slab_test_id test)
{
    static const struct slab_body batch = {prepare_all, run_batch, NULL};
    static const struct slab_body pair = {prepare_all, run_pair, NULL};
    static const struct slab_body shuffled = {prepare_all, run_shuffled, NULL};
    static const struct slab_body small_batches = {prepare_small_batches, run_small_batches, NULL};
    static const struct slab_body mixed = {prepare_mixed, run_mixed, finish_mixed};

    switch (test) {
    case SLAB_TEST_BATCH:
        return &batch;
    case SLAB_TEST_PAIR:
        return &pair;
    case SLAB_TEST_SHUFFLED:
        return &shuffled;
    case SLAB_TEST_MIXED:
        return &mixed;
    default:
        return slab_batch_objs(test) != 0 ? &small_batches : NULL;
    }
}
