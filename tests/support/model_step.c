/* SPDX-License-Identifier: MIT */
/* The operations of the model and the rules that they check. Contract: model_private.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model_private.h"
#include "stamp.h"

void model_fail(struct model_run *run, const struct model_block *b, const char *rule, size_t detail)
{
    if (!atomic_exchange(&run->has_failed, true))
        dprintf(2,
                "model(%s): %s: block %p kind %u bytes %zu usable %zu stamp %#" PRIx64 " at %zu, "
                "SLUB_TEST_SEED=%" PRIu64 "\n",
                run->config->ops->name, rule, (void *)b->p, b->kind, b->bytes, b->usable, b->id,
                detail, run->config->seed);
    atomic_store(&run->must_stop, true);
}

static void check_stamp(struct model_worker *w, const struct model_block *b, size_t bytes)
{
    size_t bad = stamp_first_bad(b->p, bytes, b->id);

    if (bad != bytes)
        model_fail(w->run, b, "contents changed", bad);
}

/* Learn the usable size, hold it against the request, and stamp all of it. */
static void adopt(struct model_worker *w, struct model_block *b)
{
    const struct model_ops *ops = w->run->config->ops;
    size_t align;

    b->usable = ops->usable(b->kind, b->p);
    b->id = ((uint64_t)(w->index + 1) << 48) | ++w->n_stamps;
    if (b->usable < b->bytes) {
        model_fail(w->run, b, "usable size below the request", b->usable);
        b->usable = b->bytes;
    }
    align = b->kind != 0 ? ops->kind_align(b->kind) : b->bytes >= 16 ? 16 : 8;
    if ((uintptr_t)b->p % align != 0)
        model_fail(w->run, b, "misaligned", align);
    stamp_fill(b->p, b->usable, b->id);
}

static size_t any_size(struct model_worker *w)
{
    uint64_t dice = rng_below(&w->rng, 100);

    if (dice < 2)
        return 0;
    if (dice < 85)
        return rng_size(&w->rng, 1, 1024);
    if (dice < 99)
        return rng_size(&w->rng, 256, 32768);
    return rng_size(&w->rng, 16384, w->run->max_bytes);
}

static void take(struct model_worker *w, struct model_block *b)
{
    const struct model_ops *ops = w->run->config->ops;
    uint64_t how = rng_below(&w->rng, 10);
    size_t align = 0;

    b->kind = (unsigned)rng_below(&w->rng, ops->n_kinds);
    b->bytes = b->kind != 0 ? ops->kind_bytes(b->kind) : any_size(w);
    if (how < 6) {
        b->p = ops->alloc(b->kind, b->bytes);
    } else if (how < 9 || b->kind != 0) {
        b->p = ops->zalloc(b->kind, b->bytes);
        if (b->p != NULL && stamp_first_nonzero(b->p, b->bytes) != b->bytes)
            model_fail(w->run, b, "zeroed block is not zero", stamp_first_nonzero(b->p, b->bytes));
    } else {
        align = (size_t)16 << rng_below(&w->rng, 13);
        b->p = ops->aligned(align, b->bytes);
        if (b->p != NULL && ((uintptr_t)b->p & (align - 1)) != 0)
            model_fail(w->run, b, "misaligned", align);
    }
    if (b->p != NULL)
        adopt(w, b);
    else if (!w->run->config->may_fail)
        model_fail(w->run, b, "no memory", align);
}

static void resize(struct model_worker *w, struct model_block *b)
{
    const struct model_ops *ops = w->run->config->ops;
    size_t bytes = rng_below(&w->rng, 3) != 0 ? any_size(w) : b->bytes + rng_below(&w->rng, 64);
    unsigned char *moved;
    size_t kept;

    if (bytes == 0)
        bytes = 1;
    check_stamp(w, b, b->usable);
    moved = ops->resize(b->p, bytes);
    if (moved == NULL) {
        if (!w->run->config->may_fail)
            model_fail(w->run, b, "no memory for a resize to", bytes);
        return;
    }
    kept = b->usable < bytes ? b->usable : bytes;
    b->p = moved;
    b->bytes = bytes;
    check_stamp(w, b, kept);
    adopt(w, b);
}

void model_drop(struct model_worker *w, struct model_block *b)
{
    const struct model_ops *ops = w->run->config->ops;

    if (b->p == NULL)
        return;
    if (ops->usable(b->kind, b->p) != b->usable)
        model_fail(w->run, b, "usable size changed", ops->usable(b->kind, b->p));
    check_stamp(w, b, b->usable);
    ops->release(b->kind, b->p);
    b->p = NULL;
}

static void swap_with_others(struct model_worker *w, struct model_block *b)
{
    struct model_exchange *x = &w->run->exchanges[rng_below(&w->rng, MODEL_EXCHANGES)];
    struct model_block mine = *b;

    pthread_mutex_lock(&x->lock);
    *b = x->block;
    x->block = mine;
    pthread_mutex_unlock(&x->lock);
}

/* The child owns what this worker owned; other threads' blocks may be in flight and are left alone.
 */
static void child_of_fork(struct model_worker *w)
{
    struct model_run *run = w->run;

    alarm(60);
    for (unsigned i = 0; i < run->n_slots; i++) {
        model_drop(w, &w->blocks[i]);
        take(w, &w->blocks[i]);
    }
    for (unsigned i = 0; i < run->n_slots; i++)
        model_drop(w, &w->blocks[i]);
    _exit(atomic_load(&run->has_failed));
}

static void fork_once(struct model_worker *w)
{
    struct model_block none = {0};
    pid_t pid = fork();
    int status;

    if (pid == 0)
        child_of_fork(w);
    if (pid < 0)
        return;
    while (waitpid(pid, &status, 0) != pid)
        continue;
    if (status != 0)
        model_fail(w->run, &none, "child of fork ended with wait status", (size_t)status);
    atomic_fetch_add(&w->n_forks, 1);
}

void model_step(struct model_worker *w)
{
    const struct model_config *c = w->run->config;
    struct model_block *b = &w->blocks[rng_below(&w->rng, w->run->n_slots)];
    uint64_t dice = rng_below(&w->rng, 65536);

    atomic_fetch_add_explicit(&w->n_ops, 1, memory_order_relaxed);
    if (dice == 0 && c->ops->trim != NULL)
        c->ops->trim();
    else if (dice < 8 && c->forks && w->index == 0)
        fork_once(w);
    else if (b->p == NULL)
        take(w, b);
    else if (dice < 12000)
        swap_with_others(w, b);
    else if (dice < 24000 && b->kind == 0)
        resize(w, b);
    else if (dice < 28000)
        check_stamp(w, b, b->usable);
    else
        model_drop(w, b);
}
