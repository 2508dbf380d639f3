/* SPDX-License-Identifier: MIT */
/* The size-class calls of slub.h: sizes, alignments, contents, errors. */
#include "api_kit.h"

#include <stdint.h>

#include "rng.h"

static size_t promised_alignment(size_t size)
{
    size_t usable = slub_good_size(size), align = usable & -usable;
    return usable > 32768 ? 16 : align < 16 && usable >= 16 ? 16 : align;
}

static void sizes(void *unused)
{
    (void)unused;
    for (size_t size = 0; size <= 40000; size = size < 1100 ? size + 1 : size + 97) {
        void *p = slub_alloc(size, 0);
        if (!CHECK(p != NULL))
            return;
        size_t usable = slub_usable_size(p);
        tk_check(usable >= size && usable == slub_good_size(size), "size %zu: usable %zu, good %zu", size,
                 usable, slub_good_size(size));
        tk_check((uintptr_t)p % promised_alignment(size) == 0, "size %zu: at %p", size, p);
        memset(p, 0xa5, usable);
        slub_free(p);
    }
    for (size_t size = 8; size <= 1 << 20; size *= 2) {
        void *p = slub_alloc(size, 0);
        size_t align = size < 65536 ? size : 65536;
        tk_check((uintptr_t)p % align == 0, "size %zu: at %p", size, p);
        slub_free_sized(p, size);
    }
}

static void zeroes(void *unused)
{
    (void)unused;
    for (size_t size = 1; size <= 300000; size += size / 3 + 1)
        for (int form = 0; form < 3; form++) {
            void *p = slub_alloc(size, 0);
            memset(p, 0xff, slub_usable_size(p));
            slub_free(p);
            p = form == 0 ? slub_zalloc(size) : form == 1 ? slub_alloc(size, SLUB_ZERO) : slub_calloc(1, size);
            tk_check(p != NULL && kit_is_all(p, 0, slub_usable_size(p)), "size %zu, form %d", size, form);
            slub_free(p);
        }
    size_t *a = (size_t *)slub_calloc(100, sizeof *a);
    CHECK(a != NULL && kit_is_all(a, 0, 100 * sizeof *a));
    slub_free(a);
}

static void errors(void *unused)
{
    (void)unused;
    size_t huge = tk_opaque((size_t)PTRDIFF_MAX + 1);
    CHECK_ERRNO(slub_alloc(huge, 0), ENOMEM);
    CHECK_ERRNO(slub_alloc(tk_opaque(SIZE_MAX), 0), ENOMEM);
    CHECK_ERRNO(slub_alloc(tk_opaque(PTRDIFF_MAX), 0), ENOMEM);
    CHECK_ERRNO(slub_alloc(8, 2), EINVAL);
    CHECK_ERRNO(slub_alloc(8, SLUB_ZERO | 0x80000000u), EINVAL);
    CHECK_ERRNO(slub_zalloc(huge), ENOMEM);
    CHECK_ERRNO(slub_calloc(tk_opaque(SIZE_MAX / 2), tk_opaque(3)), ENOMEM);
    CHECK_ERRNO(slub_calloc(tk_opaque(1ul << 32), tk_opaque(1ul << 32)), ENOMEM);
    CHECK_ERRNO(slub_aligned_alloc(0, 8), EINVAL);
    CHECK_ERRNO(slub_aligned_alloc(3, 8), EINVAL);
    CHECK_ERRNO(slub_aligned_alloc(tk_opaque((size_t)1 << 31), 8), EINVAL);
    CHECK_ERRNO(slub_aligned_alloc(64, huge), ENOMEM);
    CHECK(slub_good_size(huge) == huge);
    CHECK(slub_usable_size(NULL) == 0);
    /* Free keeps errno, and takes NULL. */
    void *p = slub_alloc(100, 0), *q = slub_alloc(100000, 0);
    errno = 77;
    slub_free(p);
    slub_free(q);
    slub_free(NULL);
    slub_free_sized(NULL, 5);
    slub_free_sensitive(NULL);
    CHECK(errno == 77);
}

static void alignments(void *unused)
{
    (void)unused;
    for (size_t align = 1; align <= (size_t)1 << 22; align *= 2)
        for (size_t size = 0; size <= 200000; size = size * 5 + 1) {
            void *p = slub_aligned_alloc(align, size);
            if (!CHECK(p != NULL))
                return;
            tk_check((uintptr_t)p % align == 0 && slub_usable_size(p) >= size, "align %zu size %zu", align, size);
            memset(p, 1, slub_usable_size(p));
            slub_free(p);
        }
    void *p = slub_aligned_alloc((size_t)1 << 30, 1);
    CHECK(p != NULL && (uintptr_t)p % ((size_t)1 << 30) == 0);
    slub_free(p);
}

static void resizing(void *unused)
{
    struct rng r = {tk_seed()};
    char *p = NULL;
    size_t size = 0;
    (void)unused;
    for (int i = 0; i < 3000; i++) {
        size_t next = rng_size(&r, 1, rng_below(&r, 20) == 0 ? 3 << 20 : 60000);
        char *q = (char *)slub_realloc(p, next);
        if (!CHECK(q != NULL))
            return;
        size_t kept = size < next ? size : next;
        tk_check(kit_is_filled(q, kept, 5), "from %zu to %zu", size, next);
        CHECK(slub_usable_size(q) >= next);
        kit_fill(q, next, 5);
        p = q;
        size = next;
    }
    CHECK_ERRNO(slub_realloc(p, tk_opaque(SIZE_MAX)), ENOMEM);
    CHECK(kit_is_filled(p, size, 5));
    CHECK(slub_realloc(p, 0) == NULL);
}

static void frees(void *unused)
{
    void *p[300];
    (void)unused;
    uint64_t before = kit_info().live_objects;
    for (size_t i = 0; i < 300; i++)
        p[i] = i % 7 == 0 ? NULL : slub_alloc(i * i, 0);
    slub_free_bulk(300, p);
    slub_free_bulk(0, NULL);
    char *s = (char *)slub_alloc(500, 0);
    memset(s, 0x77, slub_usable_size(s));
    slub_free_sensitive(s);
    CHECK(kit_info().live_objects == before);
    /* What was freed last is at hand first, and has been cleared. */
    char *again = (char *)slub_alloc(500, 0);
    if (again == s)
        CHECK(kit_is_all(again, 0, 500));
    slub_free(again);
    CHECK(strcmp(slub_version(), SLUB_VERSION) == 0);
}

static void expect_report(const char *what, void (*fn)(void *), void *arg)
{
    int status = tk_child_status(fn, arg, 10);
    tk_check(status == 6 || status == (6 | 128), "%s: ended by %s", what, tk_status_text(status));
}

static void free_behind_last(void *block) { slub_free((char *)block + 136 * 480); }

/* A slab of 136 objects of 480 bytes has 256 bytes over. What lies behind the last object's state byte must not
 * be taken for one. */
static void address_behind_the_last_object(void *unused)
{
    enum { N = 136 };
    void *p[N];
    (void)unused;
    struct slub_cache *c = slub_cache_create("behind", 480, NULL, 0);
    CHECK(c != NULL && slub_cache_alloc_bulk(c, 0, N, p) == N);
    char *first = NULL;
    for (size_t i = 0; i < N; i++)
        if ((uintptr_t)p[i] % 65536 == 0)
            first = (char *)p[i];
    if (!CHECK(first != NULL))
        return;
    expect_report("free behind the last object of a full slab", free_behind_last, first);
    slub_cache_free(c, first);
    slub_cache_shrink(c);
    expect_report("free behind the last object of a slab whose first is free", free_behind_last, first);
}

/* When the reservation is used up, blocks get mappings of their own; the promises stay. */
static void beyond_the_reservation(void *unused)
{
    void *p[64];
    (void)unused;
    if (!CHECK(slub_options_set("slab_reserve_bytes=2M") == 0))
        return;
    for (size_t i = 0; i < 64; i++) {
        p[i] = slub_alloc(65536, 0);
        tk_check(p[i] != NULL && (uintptr_t)p[i] % 65536 == 0, "block %zu of 64 KiB at %p", i, p[i]);
        if (p[i] == NULL)
            return;
        kit_fill(p[i], 65536, i);
    }
    for (size_t i = 0; i < 64; i++) {
        size_t size = 65536 + i * 10000;
        p[i] = slub_realloc(p[i], size);
        CHECK(p[i] != NULL && kit_is_filled(p[i], 65536, i));
    }
    slub_free_bulk(64, p);
    CHECK(kit_info().live_objects == 0);
}

int main(int argc, char **argv)
{
    tk_init("api", "allocation by size", argc, argv);
    tk_child("sizes", sizes, NULL, 30);
    tk_child("zeroes", zeroes, NULL, 30);
    tk_child("errors", errors, NULL, 30);
    tk_child("alignments", alignments, NULL, 30);
    tk_child("resizing", resizing, NULL, 30);
    tk_child("frees", frees, NULL, 30);
    tk_child("behind the last object", address_behind_the_last_object, NULL, 30);
    tk_child("beyond the reservation", beyond_the_reservation, NULL, 30);
    return tk_finish();
}
