/* SPDX-License-Identifier: MIT */
/* slub_options_set(): effective before the first use, refused after it, good words kept beside bad ones. */
#include "api_kit.h"

#include <stdint.h>

static void effective(void *unused)
{
    struct slub_cache_info ci;
    (void)unused;
    CHECK(slub_options_set("slab_kmalloc_classes=1 percpu=lock") == 0);
    CHECK(slub_options_set("") == 0);
    CHECK(slub_good_size(33) == 64);
    CHECK(slub_good_size(1025) == 2048);
    slub_free(slub_alloc(520, 0));
    CHECK(kit_find("kmalloc-1k", &ci));
    CHECK(strcmp(kit_info().percpu, "lock") == 0);
}

static void busy(void (*use)(void))
{
    use();
    CHECK(slub_options_set("slab_kmalloc_classes=1") == -EBUSY);
    CHECK(slub_options_set("nonsense") == -EBUSY);
    CHECK(slub_good_size(1025) == 1152);
}

static void use_alloc(void) { slub_free(slub_alloc(8, 0)); }
static void use_large(void) { slub_free(slub_alloc(100000, 0)); }
static void use_cache(void) { slub_cache_destroy(slub_cache_create("use", 8, NULL, 0)); }

static void busy_after_alloc(void *unused) { (void)unused, busy(use_alloc); }
static void busy_after_large(void *unused) { (void)unused, busy(use_large); }
static void busy_after_cache(void *unused) { (void)unused, busy(use_cache); }

static void bad_words(void *unused)
{
    (void)unused;
    CHECK(slub_options_set("slab_kmalloc_classes=2") == -EINVAL);
    CHECK(slub_options_set("no_such=1") == -EINVAL);
    CHECK(slub_options_set("slab_kmalloc_classes=1 no_such=1") == -EINVAL);
    CHECK(slub_good_size(1025) == 2048);
}

static void ordered(void *unused)
{
    void *p[6];
    (void)unused;
    CHECK(slub_options_set("slab_freelist_random=0") == 0);
    struct slub_cache *c = slub_cache_create("ordered", 4096, NULL, 0);
    for (int i = 0; i < 6; i++)
        p[i] = slub_cache_alloc(c, 0);
    for (int i = 1; i < 6; i++)
        CHECK((uintptr_t)p[i] > (uintptr_t)p[i - 1]);
    slub_cache_free_bulk(c, 6, p);
    CHECK(slub_cache_destroy(c) == 0);
}

/* No sheaves, no barns: everything still works, nothing stays cached beyond the least slot. */
static void smallest(void *unused)
{
    void *p[500];
    (void)unused;
    CHECK(slub_options_set("slab_sheaf_bytes=0 slab_barn_bytes=0 slab_barn_total_bytes=0 slab_dirty_bytes=0 "
                           "slab_large_dirty_bytes=0 slab_max_order=0") == 0);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 500; i++)
            CHECK((p[i] = slub_alloc(i * 150, 0)) != NULL);
        slub_free_bulk(500, p);
    }
    struct slub_info info = kit_info();
    CHECK(info.live_objects == 0);
    tk_check(info.dirty_bytes <= 128 * 65536, "%llu dirty bytes", (unsigned long long)info.dirty_bytes);
}

int main(int argc, char **argv)
{
    tk_init("api", "options", argc, argv);
    tk_child("effective", effective, NULL, 30);
    tk_child("busy after slub_alloc", busy_after_alloc, NULL, 30);
    tk_child("busy after a large block", busy_after_large, NULL, 30);
    tk_child("busy after a cache", busy_after_cache, NULL, 30);
    tk_child("bad words", bad_words, NULL, 30);
    tk_child("ordered", ordered, NULL, 30);
    tk_child("smallest", smallest, NULL, 30);
    return tk_finish();
}
