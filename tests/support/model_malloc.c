/* SPDX-License-Identifier: MIT */
/* The malloc family behind the model's table. */
#include <malloc.h>
#include <stdlib.h>

#include "model.h"

static void *plain(unsigned kind, size_t bytes)
{
    (void)kind;
    return malloc(bytes);
}

static void *zeroed(unsigned kind, size_t bytes)
{
    (void)kind;
    return calloc(1, bytes);
}

/* memalign() and posix_memalign() by turns; the alignment says which, so that a seed repeats. */
static void *aligned(size_t align, size_t bytes)
{
    void *p = NULL;

    if ((align & 0x5550) != 0)
        return memalign(align, bytes);
    return posix_memalign(&p, align, bytes) == 0 ? p : NULL;
}

static void *resized(void *p, size_t bytes)
{
    return realloc(p, bytes);
}

static void released(unsigned kind, void *p)
{
    (void)kind;
    free(p);
}

static size_t usable(unsigned kind, const void *p)
{
    (void)kind;
    return malloc_usable_size((void *)(uintptr_t)p);
}

static void trimmed(void)
{
    malloc_trim(0);
}

const struct model_ops model_malloc_ops = {
    .name = "malloc",
    .n_kinds = 1,
    .alloc = plain,
    .zalloc = zeroed,
    .aligned = aligned,
    .resize = resized,
    .release = released,
    .usable = usable,
    .trim = trimmed,
};
