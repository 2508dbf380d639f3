/* SPDX-License-Identifier: MIT */
/* Sizes and alignments given to a free that are wrong: row F13 of the scorecard. Default mode looks
 * the block up and ignores them. The operators are called by their mangled names, so that this
 * stays C. */
#include <stdlib.h>
#include <unistd.h>

#include "misuse.h"

enum { EXIT_NO_SUCH_CALL = 15 };

void free_sized(void *p, size_t bytes) __attribute__((weak));
void free_aligned_sized(void *p, size_t align, size_t bytes) __attribute__((weak));
void delete_sized(void *p, size_t bytes) __asm__("_ZdlPvm") __attribute__((weak));
void delete_array_sized(void *p, size_t bytes) __asm__("_ZdaPvm") __attribute__((weak));

/* Twice as many of the class as there were: none may come out twice. */
static void class_is_sound(size_t bytes)
{
    static char *blocks[200];

    for (int i = 0; i < 200; i++) {
        blocks[i] = malloc(bytes);
        for (int k = 0; k < i; k++)
            if (blocks[k] == blocks[i])
                _exit(11);
    }
}

static void each(size_t bytes, size_t hint, void (*drop)(void *, size_t))
{
    misuse_expect("none", NULL, 0);
    for (int i = 0; i < 100; i++)
        drop(malloc(bytes), hint);
    class_is_sound(bytes);
}

static void drop_sized(void *p, size_t hint)
{
    if (free_sized == NULL)
        _exit(EXIT_NO_SUCH_CALL);
    free_sized(p, tk_opaque(hint));
}

static void drop_aligned_sized(void *p, size_t hint)
{
    if (free_aligned_sized == NULL)
        _exit(EXIT_NO_SUCH_CALL);
    free_aligned_sized(p, tk_opaque(4096), tk_opaque(hint));
}

static void drop_delete(void *p, size_t hint)
{
    if (delete_sized == NULL || delete_array_sized == NULL)
        _exit(EXIT_NO_SUCH_CALL);
    delete_sized(p, tk_opaque(hint));
}

static void drop_delete_array(void *p, size_t hint)
{
    if (delete_sized == NULL || delete_array_sized == NULL)
        _exit(EXIT_NO_SUCH_CALL);
    delete_array_sized(p, tk_opaque(hint));
}

static void sized_less(size_t bytes)
{
    each(bytes, bytes / 3, drop_sized);
}
static void sized_more(size_t bytes)
{
    each(bytes, bytes * 3, drop_sized);
}
static void aligned_sized_wrong(size_t bytes)
{
    each(bytes, bytes * 3, drop_aligned_sized);
}
static void delete_less(size_t bytes)
{
    each(bytes, bytes / 3, drop_delete);
}
static void delete_more(size_t bytes)
{
    each(bytes, bytes * 3, drop_delete);
}
static void delete_array_more(size_t bytes)
{
    each(bytes, bytes * 3, drop_delete_array);
}

/* A right hint does not excuse a second free. */
static void sized_twice(size_t bytes)
{
    void *p = hide(malloc(bytes));

    if (free_sized == NULL)
        _exit(EXIT_NO_SUCH_CALL);
    free_sized(p, bytes);
    misuse_expect("free_sized|free", p, 0);
    free_sized(p, bytes);
}

static void delete_twice(size_t bytes)
{
    void *p = hide(malloc(bytes));

    if (delete_sized == NULL)
        _exit(EXIT_NO_SUCH_CALL);
    delete_sized(p, bytes);
    misuse_expect("operator delete|free", p, 0);
    delete_sized(p, bytes);
}

const struct misuse misuse_hints[] = {
    {"sized-less", sized_less},
    {"sized-more", sized_more},
    {"aligned-sized-wrong", aligned_sized_wrong},
    {"delete-less", delete_less},
    {"delete-more", delete_more},
    {"delete-array-more", delete_array_more},
    {"sized-twice", sized_twice},
    {"delete-twice", delete_twice},
    {NULL, NULL},
};
