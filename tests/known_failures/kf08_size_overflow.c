/* SPDX-License-Identifier: MIT */
/* Case 8: size + alignment + header must not wrap, at any entry point: no huge request may get a
 * short block. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "slubinfo.h"
#include "testkit.h"

static unsigned long n_calls;

/* A block that was handed out must hold what was asked for; then it goes back. */
static void judge(void *p, size_t bytes, size_t align, const char *call)
{
    n_calls++;
    if (p == NULL)
        return;
    tk_check(bytes <= PTRDIFF_MAX, "%s of %#zx bytes, aligned %#zx, gave a block", call, bytes,
             align);
    tk_check(malloc_usable_size(p) >= bytes, "%s of %#zx bytes, aligned %#zx, is short: %zu", call,
             bytes, align, malloc_usable_size(p));
    tk_check(((uintptr_t)p & (align - 1)) == 0, "%s aligned %#zx gave %p", call, align, p);
    free(p);
}

static void all_calls(size_t bytes)
{
    void *p = NULL, *small = malloc(40), *grown;

    bytes = tk_opaque(bytes);
    judge(malloc(bytes), bytes, 1, "malloc");
    judge(calloc(1, bytes), bytes, 1, "calloc(1, n)");
    judge(calloc(bytes, 1), bytes, 1, "calloc(n, 1)");
    judge(valloc(bytes), bytes, 4096, "valloc");
    judge(pvalloc(bytes), bytes, 4096, "pvalloc");
    judge(aligned_alloc(64, bytes), bytes, 64, "aligned_alloc");
    judge(memalign(4096, bytes), bytes, 4096, "memalign");
    if (posix_memalign(&p, 65536, bytes) == 0)
        judge(p, bytes, 65536, "posix_memalign");
    grown = realloc(small, bytes);
    if (grown != NULL)
        small = NULL;
    judge(grown, bytes, 1, "realloc");
    if (small != NULL) {
        grown = reallocarray(small, bytes, 1);
        if (grown != NULL)
            small = NULL;
        judge(grown, bytes, 1, "reallocarray");
    }
    free(small);
}

static void sizes(void *unused)
{
    size_t step = tk_count(41, 1);

    (void)unused;
    for (size_t k = 0; k <= 70000; k += step)
        all_calls(SIZE_MAX - k);
    for (size_t k = 0; k < 40; k++) {
        all_calls((size_t)PTRDIFF_MAX - 20 + k);
        all_calls(SIZE_MAX / 2 + 1 + (k << 10));
        all_calls(SIZE_MAX - k);
    }
    tk_note("%lu sizes near the ends", n_calls);
}

static void alignments(void *unused)
{
    static const size_t bytes[] = {0,
                                   1,
                                   100,
                                   4096,
                                   70000,
                                   PTRDIFF_MAX - 1,
                                   PTRDIFF_MAX,
                                   (size_t)PTRDIFF_MAX + 1,
                                   SIZE_MAX - 70000,
                                   SIZE_MAX - 4096,
                                   SIZE_MAX - 1,
                                   SIZE_MAX};

    (void)unused;
    for (unsigned shift = 0; shift < 64; shift++)
        for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
            size_t align = tk_opaque((size_t)1 << shift), n = tk_opaque(bytes[i]);
            void *p = NULL;

            judge(memalign(align, n), n, align, "memalign");
            judge(aligned_alloc(align, n), n, align, "aligned_alloc");
            if (posix_memalign(&p, align, n) == 0)
                judge(p, n, align, "posix_memalign");
        }
    tk_note("%lu alignments", n_calls);
}

static void products(void *unused)
{
    struct rng r = {.s = tk_seed()};

    (void)unused;
    for (size_t i = 0; i < tk_count(100000, 2000000); i++) {
        size_t a = rng_next(&r) >> rng_below(&r, 64), b, product;
        bool wraps;

        if (a == 0)
            continue;
        b = SIZE_MAX / a + rng_below(&r, 4) - 1;
        wraps = __builtin_mul_overflow(a, b, &product);
        if (wraps)
            product = SIZE_MAX;
        judge(calloc(a, b), product, 1, "calloc of a product");
        judge(reallocarray(NULL, a, b), product, 1, "reallocarray of a product");
    }
    tk_note("%lu products near 2^64", n_calls);
}

static void expect_no_cache(size_t size, size_t align)
{
    union {
        void *object;
        struct slub_cache *(*call)(const char *, size_t, const struct slub_cache_args *, unsigned);
    } create = {.object = dlsym(RTLD_DEFAULT, "slub_cache_create")};
    struct slub_cache_args args = {.size = sizeof args, .align = align};

    errno = 77;
    tk_check(create.call("kf08", size, &args, 0) == NULL && errno == EINVAL,
             "a cache of size %#zx, aligned %#zx: errno %d", size, align, errno);
}

static void caches(void *unused)
{
    (void)unused;
    expect_no_cache(0, 0);
    expect_no_cache(32769, 0);
    expect_no_cache(SIZE_MAX, 0);
    expect_no_cache((size_t)PTRDIFF_MAX + 1, 64);
    expect_no_cache(64, (size_t)1 << 31);
    expect_no_cache(64, (size_t)1 << 63);
    expect_no_cache(64, 65536);
    expect_no_cache(64, 24);
    tk_note("caches of bad sizes refused");
}

int main(int argc, char **argv)
{
    tk_init("kf08", "overflow of sizes", argc, argv);
    tk_child("sizes", sizes, NULL, 120);
    tk_child("alignments", alignments, NULL, 120);
    tk_child("products", products, NULL, 120);
    if (slubinfo_root() != NULL)
        tk_child("caches", caches, NULL, 60);
    return tk_finish();
}
