/* SPDX-License-Identifier: MIT */
/* Pools against a model: every object once, in ascending or random order, purged and used again. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/lock.h"
#include "cache/init.h"
#include "os/os.h"
#include "service/dirty.h"
#include "service/options.h"
#include "slab/pool.h"

enum { ID = SLUB_MAX_CACHES - 1, MOST = 20000 };

static struct pool pool;
static void *held[MOST]; /* what the model says is out */
static size_t n_held;

static void make_pool(size_t size, unsigned random)
{
    struct geometry g;
    struct geometry_rules rules = {os_page_size(), 0, 3, 0, 2};
    assert_true(init_ready());
    assert_int_equal(geometry_compute(&g, size, 8, &rules), 0);
    options.freelist_random = random;
    memset((void *)&pool, 0, sizeof pool);
    pool_init(&pool, ID, &g);
    n_held = 0;
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (void *const *)a, y = (uintptr_t) * (void *const *)b;
    return x < y ? -1 : x > y;
}

/* Objects are distinct, of this pool, at starts. */
static void check_held(void)
{
    static void *sorted[MOST];
    const struct geometry *g = &pool.po_geometry;
    memcpy(sorted, held, n_held * sizeof *held);
    qsort(sorted, n_held, sizeof *sorted, by_address);
    for (size_t i = 0; i < n_held; i++) {
        assert_true(i == 0 || sorted[i] != sorted[i - 1]);
        assert_int_equal(gmap_id(gmap_find(sorted[i])), ID);
        assert_int_equal(slab_offset(sorted[i]) % g->stride_bytes, 0);
        assert_true(slab_offset(sorted[i]) / g->stride_bytes < g->n_objs);
    }
}

/* What a pool gives and takes are entries; the model has the objects. */
static size_t pool_take_objs(unsigned home, void **out, size_t n)
{
    static struct entry e[MOST];
    size_t got = pool_take(&pool, home, e, n);
    for (size_t i = 0; i < got; i++) {
        out[i] = e[i].en_obj;
#if SLUB_STATE
        uint32_t index = slab_offset(out[i]) / pool.po_geometry.stride_bytes;
        assert_ptr_equal(e[i].en_state, &slab_of_entry(gmap_find(out[i]))->sl_state[index]);
#endif
    }
    return got;
}

static void pool_give_objs(unsigned home, void *const *objs, size_t n)
{
    static struct entry e[MOST];
    for (size_t i = 0; i < n; i++)
        e[i] = entry_make(objs[i], NULL);
    pool_give(&pool, home, e, n);
}

static void check_totals(void)
{
    struct pool_totals t;
    pool_totals(&pool, &t);
    assert_int_equal(t.n_out, n_held);
    assert_int_equal(pool_n_out(&pool), n_held);
    assert_int_equal(t.count.pc_take - t.count.pc_give, n_held);
    assert_true(t.n_partial <= t.n_slabs);
    assert_int_equal(t.n_slabs + t.n_empty + t.n_clean, t.count.pc_new);
    assert_true(t.n_slabs * pool.po_geometry.n_objs >= n_held);
    assert_int_equal(t.count.pc_fail, 0);
}

static void take(size_t n)
{
    size_t got = pool_take_objs(0, held + n_held, n);
    assert_int_equal(got, n);
    n_held += got;
}

static void give(size_t n)
{
    n_held -= n;
    pool_give_objs(0, held + n_held, n);
}

static void shuffle_held(struct rng *r)
{
    for (size_t i = n_held; i > 1; i--) {
        size_t j = rng_below(r, i);
        void *t = held[i - 1];
        held[i - 1] = held[j];
        held[j] = t;
    }
}

static void end_pool(void)
{
    uint64_t first = n_held != 0 ? gmap_granule(held[0]) : 0;
    bool had = n_held != 0;
    give(n_held);
    check_totals();
    pool_tear_down(&pool);
    if (had)
        assert_true(gmap_get(first) == gmap_unowned());
}

static void against_a_model(void **state)
{
    static const size_t sizes[] = {8, 16, 24, 48, 96, 256, 480, 1000, 4096, 5000, 16384, 20000, 32768};
    struct rng r = unit_rng();
    (void)state;
    for (unsigned random = RANDOM_OFF; random <= RANDOM_STRONG; random++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            make_pool(sizes[i], random);
            size_t most = min_size(MOST, (8u << 20) / sizes[i]);
            for (int step = 0; step < 300; step++) {
                if (rng_below(&r, 2) == 0) {
                    take(rng_below(&r, min_size(200, most - n_held) + 1));
                } else {
                    shuffle_held(&r);
                    give(rng_below(&r, rng_below(&r, 8) == 0 ? n_held + 1 : n_held / 2 + 1));
                }
                if (rng_below(&r, 32) == 0)
                    pool_trim(&pool, rng_below(&r, 2) == 0);
                if (step % 16 == 0)
                    check_held();
                check_totals();
            }
            end_pool();
        }
}

/* What is taken first is at the end of each batch. */
static void ascending_without_randomness(void **state)
{
    (void)state;
    for (size_t size = 16; size <= 8192; size *= 2) {
        uintptr_t last = 0;
        make_pool(size, RANDOM_OFF);
        for (size_t n = 1; n <= 60; n += 7) {
            size_t at = n_held;
            take(n);
            for (size_t i = n; i-- > 0;) {
                assert_true((uintptr_t)held[at + i] > last);
                last = (uintptr_t)held[at + i];
            }
        }
        end_pool();
    }
}

/* All objects of four slabs, one by one: each once, and not in order. */
static void permutation_with_randomness(void **state)
{
    (void)state;
    for (unsigned random = RANDOM_KEYED; random <= RANDOM_STRONG; random++) {
        make_pool(64, random);
        size_t n = 4 * pool.po_geometry.n_objs;
        bool ascending = true;
        for (size_t i = 0; i < n; i++) {
            take(1);
            ascending &= i == 0 || held[i] > held[i - 1];
        }
        check_held();
        assert_false(ascending);
        struct pool_totals t;
        pool_totals(&pool, &t);
        assert_int_equal(t.n_slabs, 4);
        assert_int_equal(t.n_partial, 0);
        end_pool();
    }
}

/* Batches of the size that the smallest sheaf asks for. If each lay above the one before, whoever knows one
 * address would know where the next ones are; by chance half of them do. */
static void order_is_hard_to_guess(void **state)
{
    enum { BATCH = 6 };
    static const size_t sizes[] = {16, 64}; /* of larger ones a page, the first step, holds a few batches only */
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        make_pool(sizes[s], RANDOM_KEYED);
        size_t n_batches = 8 * pool.po_geometry.n_objs / BATCH, n_above = 0;
        if (n_batches > MOST / BATCH)
            n_batches = MOST / BATCH;
        void *before = NULL;
        for (size_t i = 0; i < n_batches; i++) {
            take(BATCH);
            void *least = held[n_held - 1];
            for (size_t k = 1; k <= BATCH; k++)
                least = held[n_held - k] < least ? held[n_held - k] : least;
            n_above += least > before;
            before = least;
        }
        if (n_above > n_batches * 3 / 4)
            fail_msg("%zu bytes: %zu of %zu batches lie above the one before", sizes[s], n_above, n_batches);
        end_pool();
    }
}

static size_t resident(const void *p)
{
    size_t pages = 0;
    if (!unit_resident((char *)gmap_address(gmap_granule(p)), SLUB_GRANULE_BYTES, &pages))
        skip();
    return pages;
}

static void purged_and_used_again(void **state)
{
    struct pool_totals t;
    (void)state;
    for (unsigned random = RANDOM_OFF; random <= RANDOM_KEYED; random++) {
        make_pool(128, random);
        size_t n = 8 * pool.po_geometry.n_objs;
        uint64_t dirty_before = dirty_bytes(&dirty_slabs);
        take(n);
        for (size_t i = 0; i < n; i++)
            memset(held[i], 0xee, 128);
        void *one = held[0];
        give(n);
        pool_totals(&pool, &t);
        assert_int_equal(t.n_empty, 8);
        assert_int_equal(t.count.pc_empty, 8);
        assert_int_equal(dirty_bytes(&dirty_slabs) - dirty_before, 8 * SLUB_GRANULE_BYTES);
        assert_true(resident(one) > 0);
        assert_int_equal(pool_trim(&pool, false), 8 * SLUB_GRANULE_BYTES);
        assert_int_equal(dirty_bytes(&dirty_slabs), dirty_before);
        pool_totals(&pool, &t);
        assert_int_equal(t.n_clean, 8);
        assert_int_equal(t.count.pc_free, 8);
        assert_int_equal(resident(one), 0);
        take(n);
        check_held();
        for (size_t i = 0; i < n; i++)
            assert_int_equal(*(char *)held[i], 0);
        pool_totals(&pool, &t);
        assert_int_equal(t.count.pc_new, 8);
        assert_int_equal(t.count.pc_reuse, 8);
        end_pool();
    }
}

/* Pages without objects in use go back; what is in use keeps its contents. */
static void free_pages_of_slabs_in_use(void **state)
{
    (void)state;
    make_pool(256, RANDOM_OFF);
    take(pool.po_geometry.n_objs);
    qsort(held, n_held, sizeof *held, by_address);
    for (size_t i = 0; i < n_held; i++)
        memset(held[i], (int)i | 1, 256);
    void *kept = held[0];
    size_t n = pool.po_geometry.n_objs - 1;
    memmove(held, held + 1, n * sizeof *held);
    held[n] = kept;
    void *objs[MOST / 64];
    memcpy(objs, held, n * sizeof *objs);
    pool_give_objs(0, objs, n);
    held[0] = kept;
    n_held = 1;
    size_t page = os_page_size();
    uint64_t bytes = pool_trim(&pool, true);
    assert_int_equal(bytes, SLUB_GRANULE_BYTES - page);
    assert_int_equal(resident(kept), 1);
    for (int i = 0; i < 256; i++)
        assert_int_equal(((unsigned char *)kept)[i], 1);
    take(20);
    check_held();
    end_pool();
}

/* Empty slabs beyond the cap give their pages back by themselves. */
static void dirty_cap_holds(void **state)
{
    uint64_t before = options.dirty_bytes;
    (void)state;
    make_pool(4096, RANDOM_KEYED);
    pool_relief = NULL;
    options.dirty_bytes = 16 * SLUB_GRANULE_BYTES;
    take(100 * pool.po_geometry.n_objs);
    for (size_t i = 0; i < n_held; i++)
        memset(held[i], 1, 4096);
    while (n_held != 0) {
        give(min_size(n_held, 64));
        assert_true(dirty_bytes(&dirty_slabs) <= options.dirty_bytes + 4 * SLUB_GRANULE_BYTES);
    }
    struct pool_totals t;
    pool_totals(&pool, &t);
    assert_true(t.n_clean >= 80);
    options.dirty_bytes = before;
    end_pool();
}

/* The fullest slabs are taken from first, so that the others can become empty. */
static void fullest_slab_first(void **state)
{
    (void)state;
    make_pool(1024, RANDOM_OFF);
    size_t per_slab = pool.po_geometry.n_objs;
    take(2 * per_slab);
    qsort(held, n_held, sizeof *held, by_address);
    uint64_t fuller = gmap_granule(held[0]);
    /* One object of the first slab comes back, and all but one of the second. */
    pool_give_objs(0, held, 1);
    pool_give_objs(0, held + per_slab, per_slab - 1);
    void *last = held[2 * per_slab - 1];
    memmove(held, held + 1, (per_slab - 1) * sizeof *held);
    n_held = per_slab - 1;
    held[n_held++] = last;
    take(1);
    assert_int_equal(gmap_granule(held[n_held - 1]), fuller);
    end_pool();
}

static void *take_at_home_1(void *arg)
{
    *(size_t *)arg = pool_take_objs(1, held, 10);
    return NULL;
}

/* What fork lets go is what it took: nobody publishes the lists of a home in between. */
static void no_new_home_while_locked(void **state)
{
    pthread_t t;
    size_t got = 0;
    (void)state;
    make_pool(64, RANDOM_KEYED);
    pool_lock_all(&pool);
    assert_int_equal(pthread_create(&t, NULL, take_at_home_1, &got), 0);
    usleep(50000);
    assert_null(pool.po_home[1]);
    pool_unlock_all(&pool);
    pthread_join(t, NULL);
    assert_int_equal(got, 10);
    assert_non_null(pool.po_home[1]);
    n_held = got;
    check_totals();
    pool_lock_all(&pool);
    pool_unlock_all(&pool);
    pool_rekey(&pool); /* takes locks that must be free again */
    end_pool();
}

/* Who waits for the first list is on the way to make another, and may come first when it is let go. On one CPU that
 * is what happens. */
static void unlocked_is_what_was_locked(void **state)
{
    cpu_set_t all, one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    for (int round = 0; round < 300; round++) {
        pthread_t t;
        size_t got = 0;
        make_pool(64, RANDOM_KEYED);
        pool_lock_all(&pool);
        assert_int_equal(pthread_create(&t, NULL, take_at_home_1, &got), 0);
        usleep(200); /* it waits in the kernel now */
        pool_unlock_all(&pool);
        assert_int_equal(lock_n_held, 0);
        pthread_join(t, NULL);
        n_held = got;
        end_pool();
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

/* Objects go back to the lists of the home that they came from, whoever frees them. */
static void many_homes(void **state)
{
    struct rng r = unit_rng();
    (void)state;
    make_pool(96, RANDOM_KEYED);
    for (int step = 0; step < 200; step++) {
        size_t n = rng_below(&r, 100) + 1;
        size_t got = pool_take_objs((unsigned)rng_below(&r, POOL_MAX_HOMES), held + n_held, n);
        assert_int_equal(got, n);
        n_held += got;
        shuffle_held(&r);
        give(rng_below(&r, n_held + 1));
        check_held();
        check_totals();
    }
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++) {
        assert_non_null(pool.po_home[i]);
        uint64_t n_out = 0;
        for (size_t k = 0; k < n_held; k++)
            n_out += slab_of_entry(gmap_find(held[k]))->sl_home == i;
        assert_int_equal(pool.po_home[i]->ph_n_out, n_out);
    }
    end_pool();
}

/* CPUs must not write to the same cache lines: what is taken at two homes comes from different slabs, until a slab is
 * empty; then it serves whoever needs one. */
static void homes_share_no_slab(void **state)
{
    enum { EACH = 300 };
    (void)state;
    make_pool(64, RANDOM_KEYED);
    for (unsigned home = 0; home < 2; home++)
        assert_int_equal(pool_take_objs(home, held + home * EACH, EACH), EACH);
    for (size_t i = 0; i < EACH; i++)
        for (size_t k = EACH; k < 2 * EACH; k++)
            assert_int_not_equal(gmap_granule(held[i]), gmap_granule(held[k]));
    uint64_t granule = gmap_granule(held[0]);
    pool_give_objs(1, held, EACH);
    struct pool_totals before, after;
    pool_totals(&pool, &before);
    assert_int_equal(before.count.pc_remote, EACH);
    assert_int_equal(before.n_empty, 1);
    size_t n = 2 * pool.po_geometry.n_objs - EACH; /* what is left at home 1, and a whole slab */
    assert_int_equal(pool_take_objs(1, held + 2 * EACH, n), n);
    pool_totals(&pool, &after);
    assert_int_equal(after.count.pc_new, before.count.pc_new);
    assert_int_equal(after.n_empty, 0);
    assert_int_equal(slab_of_entry(gmap_get(granule))->sl_home, 1);
    memmove(held, held + EACH, (EACH + n) * sizeof *held);
    n_held = EACH + n;
    end_pool();
}

/* Slabs in use serve what they have, at their own home only, and no other slab is taken for it. */
static void partial_slabs_only(void **state)
{
    struct entry e[64];
    struct pool_totals before, after;
    (void)state;
    make_pool(2048, RANDOM_KEYED);
    assert_int_equal(pool_take_partial(&pool, 0, e, 10), 0);
    assert_int_equal(pool_take_partial(&pool, 1, e, 10), 0);
    size_t n = pool.po_geometry.n_objs;
    assert_true(n - 1 <= sizeof e / sizeof *e);
    take(1);
    pool_totals(&pool, &before);
    assert_int_equal(pool_take_partial(&pool, 1, e, n), 0);
    assert_int_equal(pool_take_partial(&pool, 0, e, n), n - 1);
    pool_totals(&pool, &after);
    assert_int_equal(after.count.pc_new, before.count.pc_new);
    assert_int_equal(after.n_out, n);
    for (size_t i = 0; i < n - 1; i++)
        held[n_held++] = e[i].en_obj;
    check_held();
    check_totals();
    end_pool();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascending_without_randomness), cmocka_unit_test(permutation_with_randomness),
        cmocka_unit_test(order_is_hard_to_guess),       cmocka_unit_test(purged_and_used_again),
        cmocka_unit_test(free_pages_of_slabs_in_use),   cmocka_unit_test(fullest_slab_first),
        cmocka_unit_test(dirty_cap_holds),              cmocka_unit_test(no_new_home_while_locked),
        cmocka_unit_test(unlocked_is_what_was_locked),
        cmocka_unit_test(partial_slabs_only),
        cmocka_unit_test(many_homes),                   cmocka_unit_test(homes_share_no_slab),
        cmocka_unit_test(against_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
