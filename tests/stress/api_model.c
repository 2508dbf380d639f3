/* SPDX-License-Identifier: MIT */
/* The random heap model over the library: size classes and several caches at once, objects of
 * caches freed through their cache and through slub_free() by turns; at the end the caches must be
 * empty. */
#include <slub/slub.h>
#include <stdio.h>

#include "options.h"

/* Kind 0 is the size classes; the others are caches of these sizes and alignments. */
static const struct {
    size_t bytes, align;
} shapes[] = {{0, 0}, {24, 8}, {200, 0}, {64, 64}, {1000, 0}, {4096, 4096}, {20000, 0}};
enum { N_KINDS = sizeof shapes / sizeof shapes[0] };

static struct slub_cache *caches[N_KINDS];

static size_t kind_bytes(unsigned kind)
{
    return shapes[kind].bytes;
}

/* Without a wish, caches give 8. */
static size_t kind_align(unsigned kind)
{
    return shapes[kind].align != 0 ? shapes[kind].align : 8;
}

static void *alloc(unsigned kind, size_t bytes)
{
    return kind == 0 ? slub_alloc(bytes, 0) : slub_cache_alloc(caches[kind], 0);
}

static void *zalloc(unsigned kind, size_t bytes)
{
    return kind == 0 ? slub_zalloc(bytes) : slub_cache_zalloc(caches[kind]);
}

static void *aligned(size_t align, size_t bytes)
{
    return slub_aligned_alloc(align, bytes);
}

/* The address decides which way back, so that a seed repeats. */
static void release(unsigned kind, void *p)
{
    uintptr_t a = (uintptr_t)p;

    if (kind == 0 && a % 3 == 0)
        slub_free_sized(p, slub_usable_size(p));
    else if (kind != 0 && a / 64 % 4 == 0)
        slub_cache_free_bulk(caches[kind], 1, &p);
    else if (kind != 0 && a / 64 % 4 != 1)
        slub_cache_free(caches[kind], p);
    else
        slub_free(p);
}

/* An object of a cache is as large as its cache says, whatever the slot could hold. */
static size_t usable(unsigned kind, const void *p)
{
    return kind == 0 ? slub_usable_size(p) : slub_cache_size(caches[kind]);
}

static void trim(void)
{
    for (unsigned k = 1; k < N_KINDS; k++)
        slub_cache_shrink(caches[k]);
}

static const struct model_ops ops = {
    .name = "libslub",
    .n_kinds = N_KINDS,
    .kind_bytes = kind_bytes,
    .kind_align = kind_align,
    .alloc = alloc,
    .zalloc = zalloc,
    .aligned = aligned,
    .resize = slub_realloc,
    .release = release,
    .usable = usable,
    .trim = trim,
};

int main(int argc, char **argv)
{
    struct model_config config = {.ops = &ops};
    int status;

    options_parse(&config, argc, argv);
    for (unsigned k = 1; k < N_KINDS; k++) {
        struct slub_cache_args args = {.size = sizeof args, .align = shapes[k].align};
        char name[32];

        snprintf(name, sizeof name, "model-%u", k);
        caches[k] = slub_cache_create(name, shapes[k].bytes, &args, 0);
        if (caches[k] == NULL) {
            perror("slub_cache_create");
            return 1;
        }
    }
    status = options_run("api_model", &config);
    for (unsigned k = 1; k < N_KINDS; k++)
        if (slub_cache_destroy(caches[k]) != 0) {
            fprintf(stderr, "api_model: cache %u is not empty at the end\n", k);
            status = 1;
        }
    return status;
}
