/* SPDX-License-Identifier: MIT */
/* Object caches: creation and its errors, alignment, bulk calls, shrinking, destruction. */
#include "api_kit.h"

#include <stdint.h>

static void good_and_bad_arguments(void *unused)
{
    char name[80];
    (void)unused;
    CHECK_ERRNO(slub_cache_create(NULL, 8, NULL, 0), EINVAL);
    CHECK_ERRNO(slub_cache_create("", 8, NULL, 0), EINVAL);
    CHECK_ERRNO(slub_cache_create("a b", 8, NULL, 0), EINVAL);
    CHECK_ERRNO(slub_cache_create("a\n", 8, NULL, 0), EINVAL);
    CHECK_ERRNO(slub_cache_create("zero", 0, NULL, 0), EINVAL);
    CHECK_ERRNO(slub_cache_create("big", 32769, NULL, 0), EINVAL);
    CHECK_ERRNO(slub_cache_create("huge", SIZE_MAX, NULL, 0), EINVAL);
    CHECK_ERRNO(slub_cache_create("huge", SIZE_MAX, NULL, SLUB_HWCACHE_ALIGN), EINVAL);
    CHECK_ERRNO(slub_cache_create("flags", 8, NULL, 0x100), EINVAL);
    memset(name, 'n', sizeof name);
    name[64] = 0;
    CHECK_ERRNO(slub_cache_create(name, 8, NULL, 0), EINVAL);
    name[63] = 0;
    struct slub_cache *c = slub_cache_create(name, 8, NULL, 0);
    CHECK(c != NULL && slub_cache_destroy(c) == 0);
    CHECK(slub_cache_destroy(NULL) == 0);

    struct slub_cache_args args;
    memset(&args, 0, sizeof args);
    CHECK_ERRNO(slub_cache_create("args", 8, &args, 0), EINVAL); /* no size */
    args.size = sizeof args + 1;
    CHECK_ERRNO(slub_cache_create("args", 8, &args, 0), EINVAL);
    args.size = sizeof args;
    args.align = 24;
    CHECK_ERRNO(slub_cache_create("args", 8, &args, 0), EINVAL);
    args.align = 65536;
    CHECK_ERRNO(slub_cache_create("args", 8, &args, 0), EINVAL);
    args.align = 32768;
    c = slub_cache_create("args", 8, &args, SLUB_NO_MERGE);
    void *p = c != NULL ? slub_cache_alloc(c, 0) : NULL;
    CHECK(p != NULL && (uintptr_t)p % 32768 == 0);
    slub_cache_free(c, p);
    CHECK(slub_cache_destroy(c) == 0);
    /* A caller built against an older, shorter struct. */
    args.size = sizeof args.size;
    c = slub_cache_create("old", 100, &args, 0);
    CHECK(c != NULL && slub_cache_size(c) == 100 && slub_cache_destroy(c) == 0);
}

/* The alignment rule halves the line while the object fits: a size of 0 must not keep it halving. */
static void zero_size_with_line_alignment(void *unused)
{
    (void)unused;
    CHECK_ERRNO(slub_cache_create("zero", 0, NULL, SLUB_HWCACHE_ALIGN), EINVAL);
}

static void create_or_die(void *unused)
{
    (void)unused;
    slub_cache_create("panic", 0, NULL, SLUB_PANIC);
}

static void panic(void *unused)
{
    (void)unused;
    int status = tk_child_status(create_or_die, NULL, 10);
    tk_check((status & 127) == 6, "SLUB_PANIC: ended by %s", tk_status_text(status));
    struct slub_cache *c = slub_cache_create("fine", 8, NULL, SLUB_PANIC);
    CHECK(c != NULL && slub_cache_destroy(c) == 0);
}

static void alignment(void *unused)
{
    (void)unused;
    for (size_t size = 1; size <= 300; size++)
        for (size_t align = 0; align <= 256; align = align == 0 ? 1 : align * 4)
            for (unsigned flags = 0; flags <= SLUB_HWCACHE_ALIGN; flags += SLUB_HWCACHE_ALIGN) {
                struct slub_cache_args args;
                memset(&args, 0, sizeof args);
                args.size = sizeof args;
                args.align = align;
                /* The line, or the fraction of it that holds the object. */
                size_t want = align < 8 ? 8 : align, line = 64;
                while (size <= line / 2)
                    line /= 2;
                if (flags != 0 && line > want)
                    want = line;
                struct slub_cache *c = slub_cache_create("align", size, &args, flags);
                void *p[3];
                if (!CHECK(c != NULL && slub_cache_alloc_bulk(c, 0, 3, p) == 3))
                    return;
                for (int i = 0; i < 3; i++)
                    tk_check((uintptr_t)p[i] % want == 0, "size %zu align %zu flags %u at %p", size, align,
                             flags, p[i]);
                CHECK(slub_cache_size(c) == size);
                slub_cache_free_bulk(c, 3, p);
                CHECK(slub_cache_destroy(c) == 0);
            }
}

static void zeroes(void *unused)
{
    (void)unused;
    struct slub_cache *c = slub_cache_create("zeroes", 200, NULL, 0);
    void *p[50];
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 50; i++) {
            p[i] = i % 2 == 0 ? slub_cache_zalloc(c) : slub_cache_alloc(c, SLUB_ZERO);
            CHECK(p[i] != NULL && kit_is_all(p[i], 0, 200));
            memset(p[i], 0xff, 200);
        }
        slub_cache_free_bulk(c, 50, p);
        CHECK(slub_cache_alloc_bulk(c, SLUB_ZERO, 50, p) == 50);
        for (int i = 0; i < 50; i++)
            CHECK(kit_is_all(p[i], 0, 200));
        for (int i = 0; i < 50; i++)
            slub_cache_free(c, p[i]);
    }
    CHECK_ERRNO(slub_cache_alloc(c, 4), EINVAL);
    CHECK_ERRNO(slub_cache_alloc_bulk(c, 4, 3, p), EINVAL);
    CHECK(slub_cache_destroy(c) == 0);
}

static void bulk(void *unused)
{
    enum { N = 5000 };
    static void *p[N];
    struct slub_cache_info ci;
    (void)unused;
    struct slub_cache *c = slub_cache_create("bulk", 64, NULL, 0);
    for (size_t n = 0; n <= N; n = n * 2 + 1) {
        CHECK(slub_cache_alloc_bulk(c, 0, n, p) == n);
        for (size_t i = 0; i < n; i++)
            kit_fill(p[i], 64, i);
        for (size_t i = 0; i < n; i++)
            CHECK(kit_is_filled(p[i], 64, i));
        CHECK(kit_find("bulk", &ci) && ci.objects_live == n);
        if (n % 4 == 1)
            slub_free_bulk(n, p); /* objects of caches are blocks too */
        else
            slub_cache_free_bulk(c, n, p);
        CHECK(kit_find("bulk", &ci) && ci.objects_live == 0);
    }
    void *one = slub_cache_alloc(c, 0);
    CHECK(slub_usable_size(one) >= 64);
    slub_free(one);
    slub_cache_free(c, NULL);
    CHECK(slub_cache_destroy(c) == 0);
}

static void destroying(void *unused)
{
    void *p[1000];
    struct slub_cache_info ci;
    (void)unused;
    struct slub_cache *c = slub_cache_create("busy", 100, NULL, 0);
    CHECK(slub_cache_alloc_bulk(c, 0, 1000, p) == 1000);
    CHECK(slub_cache_destroy(c) == -EBUSY);
    CHECK(kit_find("busy", &ci) && ci.objects_live == 1000);
    slub_cache_free_bulk(c, 999, p);
    CHECK(slub_cache_destroy(c) == -EBUSY);
    void *q = slub_cache_alloc(c, 0); /* stays usable */
    CHECK(q != NULL);
    slub_cache_free(c, q);
    slub_cache_free(c, p[999]);
    CHECK(slub_cache_destroy(c) == 0);
    CHECK(!kit_find("busy", &ci));
    /* Address space and metadata are used again. */
    struct slub_info before = kit_info();
    for (int i = 0; i < 3000; i++) {
        c = slub_cache_create("again", 500, NULL, 0);
        if (!CHECK(c != NULL && slub_cache_alloc_bulk(c, 0, 200, p) == 200))
            return;
        slub_cache_free_bulk(c, 200, p);
        CHECK(slub_cache_destroy(c) == 0);
    }
    struct slub_info after = kit_info();
    tk_check(after.mapped_bytes < before.mapped_bytes + (64u << 20), "mapped %llu more",
             (unsigned long long)(after.mapped_bytes - before.mapped_bytes));
    tk_check(after.meta_bytes < before.meta_bytes + (1u << 20), "metadata %llu more",
             (unsigned long long)(after.meta_bytes - before.meta_bytes));
    CHECK(after.live_objects == 0);
}

static void shrinking(void *unused)
{
    void *p[4000];
    struct slub_cache_info ci;
    (void)unused;
    struct slub_cache *c = slub_cache_create("shrink", 256, NULL, 0);
    CHECK(slub_cache_shrink(c) == 0);
    CHECK(slub_cache_alloc_bulk(c, 0, 4000, p) == 4000);
    CHECK(slub_cache_shrink(c) == 1);
    for (int i = 0; i < 4000; i++)
        kit_fill(p[i], 256, (uint64_t)i);
    for (int i = 0; i < 4000; i++)
        if (i % 100 != 0)
            slub_cache_free(c, p[i]);
    CHECK(slub_cache_shrink(c) == 1);
    CHECK(kit_find("shrink", &ci) && ci.objects_live == 40 && ci.objects_cached == 0 && ci.slabs_empty == 0);
    for (int i = 0; i < 4000; i += 100) {
        CHECK(kit_is_filled(p[i], 256, (uint64_t)i));
        slub_cache_free(c, p[i]);
    }
    CHECK(slub_cache_shrink(c) == 0);
    CHECK(kit_find("shrink", &ci) && ci.slabs == 0 && ci.slabs_clean > 0);
    CHECK(slub_cache_destroy(c) == 0);
}

static void as_many_as_there_are_ids(void *unused)
{
    enum { MOST = 5000 };
    static struct slub_cache *c[MOST];
    static void *p[MOST];
    size_t n = 0;
    (void)unused;
    errno = 0;
    while (n < MOST && (c[n] = slub_cache_create("many", 16 + n % 100, NULL, 0)) != NULL)
        n++;
    CHECK(errno == ENOSPC);
    tk_check(n >= 3900 && n < MOST, "%zu caches", n);
    for (size_t i = 0; i < n; i += 10)
        CHECK((p[i] = slub_cache_alloc(c[i], 0)) != NULL);
    for (size_t i = 0; i < n; i += 10)
        slub_free(p[i]);
    for (size_t i = 0; i < n; i++)
        CHECK(slub_cache_destroy(c[i]) == 0);
    struct slub_cache *one = slub_cache_create("one", 16, NULL, 0);
    CHECK(one != NULL && slub_cache_destroy(one) == 0);
}

static void sheaf_capacity(void *unused)
{
    void *p[2000];
    struct slub_cache_info ci;
    struct slub_cache_args args;
    (void)unused;
    memset(&args, 0, sizeof args);
    args.size = sizeof args;
    args.sheaf_capacity = 200;
    struct slub_cache *c = slub_cache_create("sheaf", 8192, &args, 0);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 2000; i++)
            p[i] = slub_cache_alloc(c, 0);
        for (int i = 0; i < 2000; i++)
            slub_cache_free(c, p[i]);
    }
    CHECK(kit_find("sheaf", &ci));
    tk_check(ci.sheaf_capacity >= 200, "capacity %llu", (unsigned long long)ci.sheaf_capacity);
    CHECK(slub_cache_destroy(c) == 0);
}

int main(int argc, char **argv)
{
    tk_init("api", "object caches", argc, argv);
    tk_child("arguments", good_and_bad_arguments, NULL, 30);
    tk_child("size 0 with SLUB_HWCACHE_ALIGN", zero_size_with_line_alignment, NULL, 3);
    tk_child("panic", panic, NULL, 30);
    tk_child("alignment", alignment, NULL, 30);
    tk_child("zeroes", zeroes, NULL, 30);
    tk_child("bulk", bulk, NULL, 30);
    tk_child("destroying", destroying, NULL, 30);
    tk_child("shrinking", shrinking, NULL, 30);
    tk_child("ids", as_many_as_there_are_ids, NULL, 30);
    tk_child("sheaf capacity", sheaf_capacity, NULL, 30);
    return tk_finish();
}
