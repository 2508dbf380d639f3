/* SPDX-License-Identifier: MIT */
/* Case 21: zero bytes. Every allocation of them is a block of its own; realloc to zero frees. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "testkit.h"

enum { N = 1000 };

static void *by_malloc(void)
{
    return malloc(0);
}
static void *by_calloc(void)
{
    return calloc(0, 100);
}
static void *by_calloc_size(void)
{
    return calloc(100, 0);
}
static void *by_realloc(void)
{
    return realloc(NULL, 0);
}
static void *by_reallocarray(void)
{
    return reallocarray(NULL, 0, 16);
}
static void *by_aligned_alloc(void)
{
    return aligned_alloc(64, 0);
}
static void *by_memalign(void)
{
    return memalign(256, 0);
}
static void *by_pvalloc(void)
{
    return pvalloc(0);
}

static int by_value(const void *a, const void *b)
{
    void *const *x = a, *const *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void distinct(const char *name, void *(*call)(void))
{
    static void *blocks[N];

    for (int i = 0; i < N; i++) {
        errno = 77;
        blocks[i] = call();
        tk_check(blocks[i] != NULL && errno == 77, "%s: %p, errno %d", name, blocks[i], errno);
    }
    qsort(blocks, N, sizeof blocks[0], by_value);
    for (int i = 1; i < N; i++)
        tk_check(blocks[i] != blocks[i - 1], "%s: %p twice", name, blocks[i]);
    for (int i = 0; i < N; i++)
        free(blocks[i]);
}

static void all_calls(void *unused)
{
    (void)unused;
    distinct("malloc(0)", by_malloc);
    distinct("calloc(0, n)", by_calloc);
    distinct("calloc(n, 0)", by_calloc_size);
    distinct("realloc(NULL, 0)", by_realloc);
    distinct("reallocarray(NULL, 0, n)", by_reallocarray);
    distinct("aligned_alloc(64, 0)", by_aligned_alloc);
    distinct("memalign(256, 0)", by_memalign);
    distinct("pvalloc(0)", by_pvalloc);
    tk_note("%d blocks of each call distinct", N);
}

/* A million times: memory would show it if the block were not freed. */
static void realloc_to_zero(void *unused)
{
    size_t base;
    void *p;

    (void)unused;
    free(malloc(10000));
    base = tk_rss();
    for (int i = 0; i < 100000; i++) {
        p = malloc(10000);
        *(char *)p = 1;
        errno = 77;
        p = realloc(p, tk_opaque((size_t)0));
        if (!tk_check(p == NULL && errno == 77, "realloc(p, 0): %p, errno %d", p, errno))
            break;
        p = reallocarray(malloc(5000), 0, 16);
        if (!tk_check(p == NULL, "reallocarray(p, 0, n): %p", p))
            break;
    }
    tk_check(tk_rss() < base + (16u << 20), "realloc(p, 0) does not free: %.1f MiB",
             (double)tk_rss() / TK_MIB);
    tk_note("realloc to zero frees");
}

int main(int argc, char **argv)
{
    tk_init("kf21", "zero sizes", argc, argv);
    tk_child("distinct", all_calls, NULL, 60);
    tk_child("realloc to zero", realloc_to_zero, NULL, 60);
    return tk_finish();
}
