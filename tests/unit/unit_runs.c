/* SPDX-License-Identifier: MIT */
/* Large blocks against a model: contents, address map, and the invariants of runs after every step.
 *
 * Every page of a block carries its owner's number. After each step the whole map is walked: used runs have an
 * entry in every granule, free ones at both ends, no two free runs touch, and what the free ones hold dirty is
 * what the account says. */
#include "unit.h"

#include <string.h>

#include "cache/init.h"
#include "large/large.h"
#include "large/runs.h"
#include "os/os.h"
#include "service/dirty.h"
#include "service/options.h"
#include "stamp.h"

enum { BLOCKS = 48 };

struct block {
    char *p;
    size_t size;
    uint64_t id;
};
static struct block blocks[BLOCKS];
static uint64_t next_id = 1;

static struct large *find(const void *p) { return large_find(p, gmap_find(p)); }

/* A test that failed leaves its blocks behind. */
static int setup(void **state)
{
    (void)state;
    if (!init_ready())
        return -1;
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].p != NULL)
            large_free(blocks[i].p);
    memset(blocks, 0, sizeof blocks);
    return 0;
}

static void fill_from(struct block *b, size_t from)
{
    size_t page = os_page_size();
    for (size_t at = from / page * page; at + 8 < b->size; at += page)
        *(uint64_t *)(void *)(b->p + at) = stamp_word(b->id, at / page);
    b->p[b->size - 1] = (char)b->id;
}

static void verify(const struct block *b, size_t bytes)
{
    size_t page = os_page_size();
    for (size_t at = 0; at + 8 < bytes; at += page)
        if (*(const uint64_t *)(const void *)(b->p + at) != stamp_word(b->id, at / page))
            fail_msg("block of %zu bytes is damaged at %zu", b->size, at);
    if (bytes == b->size)
        assert_int_equal(b->p[b->size - 1], (char)b->id);
}

static void check_used(struct large *lg)
{
    assert_int_equal(lg->lg_state, RUN_USED);
    assert_true(lg->lg_bytes <= lg->lg_n << SLUB_GRANULE_SHIFT);
    for (uint64_t i = 1; i < lg->lg_n; i++) {
        gmap_entry e = gmap_get(lg->lg_first + i);
        assert_int_equal(gmap_id(e), GMAP_LARGE_TAIL);
        assert_ptr_equal(gmap_owner(e), lg);
    }
}

static void check_free(struct large *lg)
{
    gmap_entry last = gmap_get(lg->lg_first + lg->lg_n - 1);
    assert_int_equal(gmap_id(last), GMAP_LARGE_TAIL);
    assert_ptr_equal(gmap_owner(last), lg);
    for (uint64_t i = 1; i + 1 < lg->lg_n; i++)
        assert_true(gmap_get(lg->lg_first + i) == gmap_unowned());
    assert_true(lg->lg_n > 0);
    if (lg->lg_dirty != 0) {
        assert_true(lg->lg_dirty_n > 0 && lg->lg_dirty_at + lg->lg_dirty_n <= lg->lg_n);
        assert_true(lg->lg_dirty <= (uint64_t)lg->lg_dirty_n << SLUB_GRANULE_SHIFT);
    }
}

/* What is taken for clean has no pages. */
static void check_clean(const struct large *lg)
{
    char *p = gmap_address(lg->lg_first);
    size_t from = lg->lg_dirty != 0 ? (size_t)lg->lg_dirty_at << SLUB_GRANULE_SHIFT : 0;
    size_t to = lg->lg_dirty != 0 ? from + ((size_t)lg->lg_dirty_n << SLUB_GRANULE_SHIFT) : 0, before, behind;
    if (unit_resident(p, from, &before) && unit_resident(p + to, run_bytes(lg) - to, &behind))
        assert_int_equal(before + behind, 0);
}

static void check_map(void)
{
    uint64_t n_free = 0, n_used = 0, dirty = 0, live_bytes = 0;
    uint64_t end = atomic_load(&slub_hot.n_granules);
    bool last_was_free = false;
    for (uint64_t g = 0; g < end;) {
        gmap_entry e = gmap_get(g);
        if (gmap_id(e) != GMAP_LARGE && gmap_id(e) != GMAP_LARGE_TAIL) {
            last_was_free = false;
            g++;
            continue;
        }
        struct large *lg = gmap_owner(e);
        assert_int_equal(lg->lg_first, g);
        if (gmap_id(e) == GMAP_LARGE) {
            check_used(lg);
            n_used++;
            live_bytes += lg->lg_bytes;
            last_was_free = false;
        } else {
            assert_int_equal(lg->lg_state, RUN_FREE);
            assert_false(last_was_free); /* neighbours are joined */
            check_free(lg);
            check_clean(lg);
            n_free++;
            dirty += lg->lg_dirty;
            last_was_free = true;
        }
        g += lg->lg_n;
    }
    struct large_totals t;
    large_totals(&t);
    assert_int_equal(t.n_free_runs, n_free);
    assert_int_equal(t.n_live, n_used);
    assert_int_equal(t.live_bytes, live_bytes);
    assert_int_equal(t.n_allocs - t.n_frees, n_used);
    assert_int_equal(dirty_bytes(&dirty_large), dirty);
}

/* A run cannot hold more pages than it has. */
static void check_dirty_bounds(void)
{
    uint64_t end = atomic_load(&slub_hot.n_granules);
    for (uint64_t g = 0; g < end; g++) {
        gmap_entry e = gmap_get(g);
        const struct large *lg = gmap_owner(e);
        if (gmap_id(e) == GMAP_LARGE_TAIL && lg->lg_first == g &&
            lg->lg_dirty > lg->lg_n << SLUB_GRANULE_SHIFT)
            fail_msg("a free run of %llu granules counts %llu dirty bytes", (unsigned long long)lg->lg_n,
                     (unsigned long long)lg->lg_dirty);
    }
}

static void alloc_one(struct rng *r, struct block *b)
{
    size_t align = rng_below(r, 4) == 0 ? (size_t)1 << rng_below(r, 22) : 1;
    bool want_zero = rng_below(r, 2) == 0, zeroed = false;
    b->size = rng_size(r, 32769, 2 << 20);
    b->p = large_alloc(b->size, align, want_zero ? &zeroed : NULL);
    assert_non_null(b->p);
    assert_int_equal((uintptr_t)b->p % max_size(align, SLUB_GRANULE_BYTES), 0);
    struct large *lg = find(b->p);
    assert_non_null(lg);
    assert_true(large_usable(lg) >= b->size);
    assert_int_equal(large_usable(lg), large_good_size(b->size));
    assert_null(find(b->p + 1));
    assert_null(find(b->p + SLUB_GRANULE_BYTES / 2));
    if (zeroed)
        assert_int_equal(stamp_first_nonzero(b->p, large_usable(lg)), large_usable(lg));
    b->id = next_id++;
    fill_from(b, 0);
}

static void free_one(struct block *b)
{
    verify(b, b->size);
    assert_true(large_free(b->p));
    assert_null(find(b->p));
    b->p = NULL;
}

static void resize_one(struct rng *r, struct block *b)
{
    size_t old = b->size, size = rng_size(r, 32769, 2 << 20);
    if (rng_below(r, 2) == 0)
        size = old + rng_below(r, 200000);
    char *p = large_realloc(find(b->p), size);
    assert_non_null(p);
    b->p = p;
    assert_int_equal(large_usable(find(p)), large_good_size(size));
    verify(b, old < size ? old - 1 : size - 1);
    b->size = size;
    fill_from(b, old < size ? old : 0);
    verify(b, size);
}

static void step(struct rng *r)
{
    struct block *b = &blocks[rng_below(r, BLOCKS)];
    if (rng_below(r, 64) == 0)
        large_purge(rng_below(r, 2) == 0);
    if (b->p == NULL)
        alloc_one(r, b);
    else if (rng_below(r, 2) == 0)
        free_one(b);
    else
        resize_one(r, b);
}

static void free_all(void)
{
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].p != NULL)
            free_one(&blocks[i]);
}

static void against_a_model(void **state)
{
    struct rng r = unit_rng();
    (void)state;
    for (int i = 0; i < 3000; i++) {
        step(&r);
        check_map();
    }
    free_all();
    check_map();
}

static void dirty_bytes_stay_within_runs(void **state)
{
    struct rng r = unit_rng();
    (void)state;
    for (int i = 0; i < 1000; i++) {
        step(&r);
        check_dirty_bounds();
    }
    free_all();
}

static void purging_all_leaves_nothing_dirty(void **state)
{
    struct rng r = unit_rng();
    (void)state;
    for (int i = 0; i < 300; i++)
        step(&r);
    free_all();
    assert_true(dirty_bytes(&dirty_large) > 0);
    assert_true(large_purge(true) > 0);
    assert_int_equal(dirty_bytes(&dirty_large), 0);
    size_t pages;
    uint64_t end = atomic_load(&slub_hot.n_granules);
    for (uint64_t g = 0; g < end; g++)
        if (unit_resident(gmap_address(g), SLUB_GRANULE_BYTES, &pages))
            assert_int_equal(pages, 0);
    check_map();
}

/* A dirty run that is joined to a clean one dirties nothing else: only its own granules are purged again, and what is
 * cut from the others is known to be zero. */
static void joining_dirties_nothing_else(void **state)
{
    enum { N = 64 };
    (void)state;
    char *p = large_alloc((size_t)2 * N * SLUB_GRANULE_BYTES, 1, NULL);
    assert_non_null(p);
    assert_ptr_equal(large_realloc(find(p), (size_t)N * SLUB_GRANULE_BYTES), p);
    large_purge(true); /* of what was cut off */
    assert_ptr_equal(large_realloc(find(p), (size_t)(N - 1) * SLUB_GRANULE_BYTES), p);
    struct large *used = find(p);
    lock_acquire(&large_lock);
    struct large *lg = runs_take_after(used->lg_first + used->lg_n);
    bool is_first_only = lg != NULL && lg->lg_n >= N && lg->lg_dirty_at == 0 && lg->lg_dirty_n == 1;
    struct large *rest = lg != NULL ? runs_split(lg, 1) : NULL;
    bool is_shared = rest != NULL && lg->lg_dirty == SLUB_GRANULE_BYTES && rest->lg_dirty == 0;
    if (rest != NULL)
        runs_put_free(rest);
    if (lg != NULL)
        runs_put_free(lg);
    lock_release(&large_lock);
    assert_true(is_first_only);
    assert_true(is_shared);
    check_map();
    assert_int_equal(large_purge(true), SLUB_GRANULE_BYTES);
    assert_true(large_free(p));
    check_map();
}

/* One after the other: split from one run, joined to one run, whatever the order of frees. */
static void splitting_and_joining(void **state)
{
    enum { N = 16 };
    char *p[N];
    struct rng r = unit_rng();
    struct large_totals t;
    (void)state;
    char *whole = large_alloc((size_t)N * SLUB_GRANULE_BYTES, 1, NULL);
    assert_non_null(whole);
    assert_true(large_free(whole));
    large_totals(&t);
    uint64_t before = t.n_free_runs;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++)
            assert_non_null(p[i] = large_alloc(40000, 1, NULL));
        check_map();
        for (int left = N; left > 0; left--) {
            size_t i = rng_below(&r, (uint64_t)left);
            assert_true(large_free(p[i]));
            p[i] = p[left - 1];
            check_map();
        }
        large_totals(&t);
        assert_int_equal(t.n_free_runs, before);
    }
}

static void growing_in_place_and_by_moving(void **state)
{
    (void)state;
    struct block a = {large_alloc(100000, 1, NULL), 100000, next_id++};
    fill_from(&a, 0);
    /* Nothing behind it: grows where it is. */
    struct block b = {large_alloc(3 << 20, 1, NULL), 3 << 20, next_id++};
    fill_from(&b, 0);
    for (size_t size = 100000; size < 64 << 20; size = size * 3 / 2) {
        char *p = large_realloc(find(a.p), size);
        assert_non_null(p);
        a.p = p;
        verify(&a, min_size(a.size, size) - 1);
        a.size = size;
        fill_from(&a, 0);
        verify(&b, b.size);
        check_map();
    }
    char *p = large_realloc(find(a.p), 50000);
    assert_ptr_equal(p, a.p); /* shrinking stays */
    verify(&a, 49000);
    check_map();
    assert_true(large_free(a.p));
    assert_true(large_free(b.p));
}

/* Blocks of large alignment must not eat address space when they come and go. */
static void aligned_blocks_come_again(void **state)
{
    size_t align = (size_t)256 << 20;
    (void)state;
    char *first = large_alloc(70000, align, NULL);
    assert_non_null(first);
    assert_true(large_free(first));
    uint64_t before = atomic_load(&slub_hot.n_granules);
    for (int i = 0; i < 64; i++) {
        char *p = large_alloc(70000, align, NULL);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % align, 0);
        assert_true(large_free(p));
    }
    uint64_t grown = atomic_load(&slub_hot.n_granules) - before;
    if (grown > 4 * (align >> SLUB_GRANULE_SHIFT))
        fail_msg("64 blocks aligned to 256 MiB, one at a time, took %llu MiB of address space",
                 (unsigned long long)grown / 16);
}

static void impossible_sizes(void **state)
{
    (void)state;
    assert_null(large_alloc(PTRDIFF_MAX, 1, NULL));
    assert_null(large_alloc((size_t)1 << 62, LARGE_MAX_ALIGN, NULL));
    char *p = large_alloc(50000, 1, NULL);
    assert_non_null(p);
    memset(p, 7, 50000);
    assert_null(large_realloc(find(p), PTRDIFF_MAX));
    assert_int_equal(p[49999], 7);
    assert_true(large_usable(find(p)) >= 50000);
    assert_true(large_free(p));
    check_map();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(splitting_and_joining, setup),
        cmocka_unit_test_setup(joining_dirties_nothing_else, setup),
        cmocka_unit_test_setup(growing_in_place_and_by_moving, setup),
        cmocka_unit_test_setup(against_a_model, setup),
        cmocka_unit_test_setup(purging_all_leaves_nothing_dirty, setup),
        cmocka_unit_test_setup(dirty_bytes_stay_within_runs, setup),
        cmocka_unit_test_setup(impossible_sizes, setup),
        cmocka_unit_test_setup(aligned_blocks_come_again, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
