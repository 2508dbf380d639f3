/* SPDX-License-Identifier: MIT */
/* Size classes: every size goes to the smallest class that holds it, in both sets of classes. */
#include "unit.h"

#include "cache/sizeclass.h"

static void check_map(void)
{
    for (unsigned i = 1; i < sizeclass_count(); i++)
        assert_true(sizeclass_bytes(i) > sizeclass_bytes(i - 1));
    assert_int_equal(sizeclass_bytes(sizeclass_count() - 1), SIZE_CLASS_MAX);
    assert_true(sizeclass_count() <= SIZECLASS_MAX);
    for (size_t size = 0; size <= SIZE_CLASS_MAX; size++) {
        unsigned index = sizeclass_id(size) - GMAP_FIRST_CACHE;
        if (index >= sizeclass_count() || sizeclass_bytes(index) < size ||
            (index > 0 && sizeclass_bytes(index - 1) >= size))
            fail_msg("size %zu goes to class %u", size, index);
    }
}

/* The same size with an alignment: the smallest class that holds it and is a multiple of the alignment. */
static void check_aligned(void)
{
    for (size_t align = 1; align <= 2 * SIZE_CLASS_MAX; align *= 2)
        for (size_t size = 0; size <= SIZE_CLASS_MAX + 64; size += size < 300 ? 1 : 37) {
            unsigned best = 0;
            for (unsigned i = 0; i < sizeclass_count() && best == 0; i++)
                if (sizeclass_bytes(i) >= size && sizeclass_bytes(i) % align == 0)
                    best = GMAP_FIRST_CACHE + i;
            assert_int_equal(sizeclass_id_aligned(size, align), best);
        }
}

static void default_classes(void **state)
{
    (void)state;
    sizeclass_init(false);
    check_map();
    check_aligned();
    for (size_t size = 129; size <= SIZE_CLASS_MAX; size++) {
        size_t bytes = sizeclass_bytes(sizeclass_id(size) - GMAP_FIRST_CACHE);
        if ((bytes - size) * 8 > size)
            fail_msg("size %zu wastes %zu", size, bytes - size);
    }
    for (size_t size = 9; size <= 128; size++)
        assert_true(sizeclass_bytes(sizeclass_id(size) - GMAP_FIRST_CACHE) - size < 16);
    /* malloc promises 16 from 16 bytes on. */
    for (unsigned i = 0; i < sizeclass_count(); i++)
        assert_true(sizeclass_bytes(i) % 16 == 0 || sizeclass_bytes(i) == 8);
}

static void kernel_classes(void **state)
{
    static const uint32_t want[] = {8,   16,  32,   64,   96,   128,  192,  256,
                                    512, 1024, 2048, 4096, 8192, 16384, 32768};
    (void)state;
    sizeclass_init(true);
    check_map();
    check_aligned();
    assert_int_equal(sizeclass_count(), sizeof want / sizeof *want);
    for (unsigned i = 0; i < sizeclass_count(); i++)
        assert_int_equal(sizeclass_bytes(i), want[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(default_classes), cmocka_unit_test(kernel_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
