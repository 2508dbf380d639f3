/* SPDX-License-Identifier: MIT */
/* Geometry of slabs: the start test, natural alignment, and the bounds of the order rule, for every size. */
#include "unit.h"

#include "slab/geometry.h"

static const struct geometry_rules usual = {
    .page_bytes = 4096, .min_order = 0, .max_order = 3, .min_objs = 0, .n_cpus = 2};

/* What the fast path of free does, in its widths. */
static bool is_start(const struct geometry *g, uint32_t offset)
{
    uint32_t index = geometry_index(g, offset);
    return index * g->stride_bytes == offset;
}

static void check_starts(const struct geometry *g)
{
    for (uint32_t i = 0; i < g->n_objs; i++) {
        uint32_t offset = i * g->stride_bytes;
        if (geometry_index(g, offset) != i || !is_start(g, offset))
            fail_msg("stride %u: object %u is not found", g->stride_bytes, i);
    }
}

/* Starts for every size; every offset for all small strides and a spread of the others, because a number
 * that is no multiple of the stride can only pass by wrapping round. */
static void start_test_is_exact(void **state)
{
    (void)state;
    for (size_t size = 1; size <= GEOMETRY_MAX_OBJECT; size++) {
        struct geometry g;
        assert_int_equal(geometry_compute(&g, size, 8, &usual), 0);
        check_starts(&g);
        if (g.stride_bytes > 1024 && size % 61 != 0)
            continue;
        for (uint32_t offset = 0; offset < SLUB_GRANULE_BYTES; offset++)
            if (is_start(&g, offset) != (offset % g.stride_bytes == 0))
                fail_msg("stride %u: offset %u is misjudged", g.stride_bytes, offset);
    }
}

/* Alignments below 8 are not used by the layers above, but the function accepts them: then it must be right. */
static void tiny_alignments_are_exact_or_refused(void **state)
{
    (void)state;
    for (size_t align = 1; align < 8; align *= 2)
        for (size_t size = 1; size <= 64; size++) {
            struct geometry g;
            if (geometry_compute(&g, size, align, &usual) == 0) {
                assert_true(g.n_objs <= UINT16_MAX); /* what struct slab counts with */
                check_starts(&g);
            }
        }
}

static void objects_lie_inside(void **state)
{
    (void)state;
    for (size_t align = 8; align <= GEOMETRY_MAX_OBJECT; align *= 2)
        for (size_t size = 1; size <= GEOMETRY_MAX_OBJECT; size += align < 64 ? 7 : 61) {
            struct geometry g;
            assert_int_equal(geometry_compute(&g, size, align, &usual), 0);
            assert_true(g.stride_bytes >= size && g.stride_bytes < size + align);
            assert_int_equal(g.stride_bytes % align, 0);
            assert_int_equal(g.align_bytes, g.stride_bytes & -g.stride_bytes);
            assert_true(g.align_bytes >= align);
            assert_true(g.n_objs * g.stride_bytes <= SLUB_GRANULE_BYTES);
            assert_true((g.n_objs + 1) * g.stride_bytes > SLUB_GRANULE_BYTES);
        }
}

static void powers_of_two_are_aligned_to_themselves(void **state)
{
    (void)state;
    for (size_t size = 8; size <= GEOMETRY_MAX_OBJECT; size *= 2) {
        struct geometry g;
        assert_int_equal(geometry_compute(&g, size, 8, &usual), 0);
        assert_int_equal(g.stride_bytes, size);
        assert_int_equal(g.align_bytes, size);
        assert_int_equal(SLUB_GRANULE_BYTES % size, 0);
    }
}

static unsigned order_of(size_t bytes, size_t page_bytes)
{
    unsigned order = 0;
    while (page_bytes << order < bytes)
        order++;
    return order;
}

static void check_extent(size_t size, const struct geometry_rules *r)
{
    struct geometry g;
    assert_int_equal(geometry_compute(&g, size, 8, r), 0);
    unsigned least = order_of(g.stride_bytes, r->page_bytes);
    unsigned most = r->max_order > least ? r->max_order : least;
    if (r->min_order > most)
        most = r->min_order;
    size_t most_bytes = min_size(r->page_bytes << most, SLUB_GRANULE_BYTES);
    size_t least_bytes = min_size(r->page_bytes << (r->min_order > least ? r->min_order : least),
                                  SLUB_GRANULE_BYTES);
    assert_true(g.extent_objs >= 1 && g.extent_objs <= g.n_objs);
    assert_true((size_t)g.extent_objs * g.stride_bytes <= most_bytes || g.extent_objs == 1);
    /* The least order is the answer when no order leaves little enough over; min_order holds otherwise. */
    assert_true((size_t)(g.extent_objs + 1) * g.stride_bytes >
                min_size(least_bytes, r->page_bytes << least));
    assert_true(g.page_objs >= 1 && g.page_objs <= g.n_objs);
    assert_true(g.page_objs <= g.extent_objs || g.page_objs == 1);
    /* As many objects as asked for, when the largest order has room for them. */
    size_t want = r->min_objs;
    if (want != 0 && want * g.stride_bytes <= most_bytes && most_bytes % g.stride_bytes <= most_bytes / 16 &&
        (r->page_bytes << most) <= SLUB_GRANULE_BYTES)
        assert_true(g.extent_objs >= want);
}

static void order_rule_keeps_its_bounds(void **state)
{
    static const size_t pages[] = {4096, 16384, 65536};
    (void)state;
    for (size_t p = 0; p < 3; p++)
        for (unsigned min = 0; min <= 4; min++)
            for (unsigned max = 0; max <= 4; max++)
                for (unsigned objs = 0; objs <= 64; objs += 16)
                    for (size_t size = 8; size <= GEOMETRY_MAX_OBJECT; size += size / 8 + 1) {
                        struct geometry_rules r = {pages[p], min, max, objs, 64};
                        check_extent(size, &r);
                    }
}

static void bad_arguments_are_refused(void **state)
{
    static const struct {
        size_t size, align;
    } bad[] = {{0, 8},     {GEOMETRY_MAX_OBJECT + 1, 8}, {SIZE_MAX, 8}, {8, 0}, {8, 3}, {8, 24},
               {8, 65536}, {8, SIZE_MAX},                {16, SIZE_MAX / 2 + 1}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct geometry g;
        assert_int_not_equal(geometry_compute(&g, bad[i].size, bad[i].align, &usual), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_test_is_exact),
        cmocka_unit_test(tiny_alignments_are_exact_or_refused),
        cmocka_unit_test(objects_lie_inside),
        cmocka_unit_test(powers_of_two_are_aligned_to_themselves),
        cmocka_unit_test(order_rule_keeps_its_bounds),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
