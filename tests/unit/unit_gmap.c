/* SPDX-License-Identifier: MIT */
/* The address map before there is a heap, and at the ends of one: no address of a program may be taken for one of the
 * heap, whatever a reader has seen of `n_granules` meanwhile (region/layout.h). */
#include "unit.h"

#include "cache/init.h"
#include "region/gmap.h"
#include "region/region.h"

/* More granules than any heap has: address spaces end at 57 bits. */
#define MOST_GRANULES (1ull << (57 - SLUB_GRANULE_SHIFT))

static void none_is_in_no_heap(void **unused)
{
    static char data;
    char stack;
    const char *block = malloc(1);
    (void)unused;
    assert_false(init_is_done);
    assert_true(atomic_load(&slub_hot.heap_base) == HOT_NO_HEAP);
    const uintptr_t known[] = {0, 1, (uintptr_t)&data, (uintptr_t)&stack, (uintptr_t)block, (uintptr_t)&malloc};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(gmap_granule((const void *)known[i]) >= MOST_GRANULES);
    /* Every address space, to the last bit that addresses of programs can have. */
    for (unsigned bit = 0; bit < 57; bit++)
        for (int off = -1; off <= 1; off++)
            assert_true(gmap_granule((const void *)(((uintptr_t)1 << bit) + (uintptr_t)off)) >= MOST_GRANULES);
#if defined(__aarch64__)
    for (uintptr_t tag = 0; tag < 256; tag++) {
        assert_true(gmap_granule((const void *)(tag << 56 | (uintptr_t)&stack)) >= MOST_GRANULES);
        assert_true(gmap_granule((const void *)(tag << 56)) >= MOST_GRANULES);
        assert_true(gmap_granule((const void *)(tag << 56 | (((uintptr_t)1 << 55) - 1))) >= MOST_GRANULES);
    }
#elif defined(__x86_64__)
    assert_true(gmap_granule((const void *)INTPTR_MAX) >= MOST_GRANULES);
#endif
    free((void *)(uintptr_t)block);
}

static void ends_of_the_heap(void **unused)
{
    (void)unused;
    assert_true(init_ready());
    uint64_t n = atomic_load(&slub_hot.n_granules);
    char *base = gmap_address(0);
    assert_true(region_take(1, NULL) == n);
    assert_true(gmap_find(gmap_address(n)) == gmap_unowned());
    assert_true(gmap_find(gmap_address(n + 1)) == GMAP_NONE);
    assert_true(gmap_find(base - 1) == GMAP_NONE);
    assert_true(gmap_find((void *)HOT_NO_HEAP) == GMAP_NONE);
    assert_true(gmap_find(NULL) == GMAP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_is_in_no_heap),
        cmocka_unit_test(ends_of_the_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
