/* SPDX-License-Identifier: MIT */
/* realloc() and malloc_usable_size() of what is no live block: rows F10 and F11 of the scorecard.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "misuse.h"

enum { EXIT_WRONG_ANSWER = 14 };

static char stranger[256];

static void *freed(size_t bytes, size_t *usable)
{
    void *p = hide(malloc(bytes));

    *usable = malloc_usable_size(p);
    free(p);
    return p;
}

static void realloc_freed(size_t bytes)
{
    size_t usable;
    void *p = freed(bytes, &usable);

    misuse_expect("realloc", p, usable);
    tk_keep(realloc(p, bytes * 2));
}

/* An address 8 bytes into a live block of BYTES. Behind the end of the block there may be another one. */
static void *inside(size_t bytes, const char *call)
{
    char *p = malloc(bytes);

    if (malloc_usable_size(p) <= 8)
        _exit(EXIT_DOES_NOT_APPLY);
    misuse_expect(call, p + 8, malloc_usable_size(p));
    return hide(p + 8);
}

static void realloc_inside(size_t bytes)
{
    tk_keep(realloc(inside(bytes, "realloc"), bytes * 2));
}

static void realloc_stranger(size_t bytes)
{
    void *p;

    misuse_expect("realloc", stranger + 16, 0);
    errno = 77;
    p = realloc(hide(stranger + 16), bytes);
    /* The bytes cannot be known, so the request fails and the stranger stays with its owner. */
    if (p != NULL || errno != ENOMEM)
        _exit(EXIT_WRONG_ANSWER);
}

static void realloc_to_zero_freed(size_t bytes)
{
    size_t usable;
    void *p = freed(bytes, &usable);

    misuse_expect("realloc", p, usable);
    tk_keep(realloc(p, tk_opaque(0)));
}

static void reallocarray_freed(size_t bytes)
{
    size_t usable;
    void *p = freed(bytes, &usable);

    misuse_expect("reallocarray|realloc", p, usable);
    tk_keep(reallocarray(p, bytes, 2));
}

static void usable_freed(size_t bytes)
{
    size_t usable;
    void *p = freed(bytes, &usable);

    misuse_expect("malloc_usable_size", p, usable);
    tk_keep((void *)malloc_usable_size(p));
}

static void usable_inside(size_t bytes)
{
    tk_keep((void *)malloc_usable_size(inside(bytes, "malloc_usable_size")));
}

static void usable_stranger(size_t bytes)
{
    (void)bytes;
    misuse_expect("malloc_usable_size", stranger + 16, 0);
    if (malloc_usable_size(hide(stranger + 16)) != 0)
        _exit(EXIT_WRONG_ANSWER);
}

const struct misuse misuse_resize[] = {
    {"realloc-freed", realloc_freed},
    {"realloc-inside", realloc_inside},
    {"realloc-stranger", realloc_stranger},
    {"realloc-to-zero-freed", realloc_to_zero_freed},
    {"reallocarray-freed", reallocarray_freed},
    {"usable-freed", usable_freed},
    {"usable-inside", usable_inside},
    {"usable-stranger", usable_stranger},
    {NULL, NULL},
};
