/* SPDX-License-Identifier: MIT */
/* Every entry point gives blocks as aligned as it promises: for any object that fits, and for what
 * was asked. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "rng.h"
#include "testkit.h"

enum { HELD = 64 };

static void *held[HELD];
static unsigned long n_blocks;

/* What C asks for: the strictest alignment that an object of this size can have, at most 16. */
static size_t natural(size_t bytes)
{
    return bytes >= 16 ? 16 : bytes >= 8 ? 8 : 1;
}

/* Keeps the block for a while, so that places vary. */
static void judge(void *p, size_t align, size_t bytes, const char *call)
{
    tk_check(p != NULL && (uintptr_t)p % align == 0, "%s of %zu bytes, aligned %zu: %p", call,
             bytes, align, p);
    free(held[n_blocks % HELD]);
    held[n_blocks++ % HELD] = p;
}

static void natural_alignment(void *unused)
{
    struct rng r = {.s = tk_seed()};

    (void)unused;
    for (size_t i = 0; i < 20000; i++) {
        size_t bytes = rng_size(&r, 1, 200000), a = natural(bytes);

        judge(malloc(bytes), a, bytes, "malloc");
        judge(calloc(1, bytes), a, bytes, "calloc");
        judge(realloc(malloc(1 + bytes / 2), bytes), a, bytes, "realloc");
        judge(reallocarray(NULL, bytes, 1), a, bytes, "reallocarray");
    }
    for (int i = 0; i < HELD; i++) {
        free(held[i]);
        held[i] = NULL;
    }
    tk_note("%lu natural", n_blocks);
}

static void asked_alignment(void *unused)
{
    struct rng r = {.s = tk_seed()};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    (void)unused;
    for (size_t i = 0; i < 10000; i++) {
        unsigned shift = (unsigned)rng_below(&r, i % 64 == 0 ? 25 : 17);
        size_t align = (size_t)1 << shift, bytes = rng_size(&r, 1, 300000) - 1;
        void *p = NULL;

        judge(memalign(align, bytes), align, bytes, "memalign");
        judge(aligned_alloc(align, bytes), align, bytes, "aligned_alloc");
        if (align >= sizeof(void *) && posix_memalign(&p, align, bytes) == 0)
            judge(p, align, bytes, "posix_memalign");
        if (i % 8 == 0) {
            judge(valloc(bytes), page, bytes, "valloc");
            judge(pvalloc(bytes), bytes > 0 ? page : 1, bytes, "pvalloc");
        }
    }
    /* The largest that are promised. */
    for (size_t align = (size_t)1 << 25; align <= (size_t)1 << 30; align *= 2)
        judge(memalign(align, 100), align, 100, "memalign");
    for (int i = 0; i < HELD; i++)
        free(held[i]);
    tk_note("%lu as asked", n_blocks);
}

int main(int argc, char **argv)
{
    tk_init("alignment", "of every entry point", argc, argv);
    tk_child("natural", natural_alignment, NULL, 120);
    tk_child("asked", asked_alignment, NULL, 120);
    return tk_finish();
}
