/* SPDX-License-Identifier: MIT */
/* Addresses inside a live block, and slots that no block was ever in: rows F7, F9 and F12 of the
 * scorecard. */
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "misuse.h"

static void free_inside(char *p, size_t offset)
{
    /* Behind the end of the block there may be another one. */
    if (offset == 0 || offset >= malloc_usable_size(p))
        _exit(EXIT_DOES_NOT_APPLY);
    misuse_expect("free", p + offset, malloc_usable_size(p));
    free(hide(p + offset));
}

static void plus_1(size_t bytes)
{
    free_inside(malloc(bytes), 1);
}
static void plus_8(size_t bytes)
{
    free_inside(malloc(bytes), 8);
}
static void plus_16(size_t bytes)
{
    free_inside(malloc(bytes), 16);
}
static void plus_half(size_t bytes)
{
    free_inside(malloc(bytes), bytes / 2);
}
static void plus_page(size_t bytes)
{
    free_inside(malloc(bytes), 4096);
}
static void aligned_plus_16(size_t bytes)
{
    free_inside(memalign(256, bytes), 16);
}
static void aligned_plus_page(size_t bytes)
{
    free_inside(memalign(65536, bytes), 4096);
}

/* The slot after the only block of its class: never handed out, or waiting in a cache. */
static void never_allocated(size_t bytes)
{
    char *p = malloc(bytes);
    size_t stride = malloc_usable_size(p);
    /* Within the 4 KiB of p, so that it is the same slab. */
    char *other = ((size_t)p & 4095) + 2 * stride <= 4096 ? p + stride : p - stride;

    if (2 * stride > 4096)
        _exit(EXIT_DOES_NOT_APPLY);
    misuse_expect("free", other, stride);
    free(hide(other));
}

const struct misuse misuse_inside[] = {
    {"plus-1", plus_1},
    {"plus-8", plus_8},
    {"plus-16", plus_16},
    {"plus-half", plus_half},
    {"plus-page", plus_page},
    {"aligned-plus-16", aligned_plus_16},
    {"aligned-plus-page", aligned_plus_page},
    {"never-allocated", never_allocated},
    {NULL, NULL},
};
