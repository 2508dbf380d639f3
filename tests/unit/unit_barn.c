/* SPDX-License-Identifier: MIT */
/* Barns against a model: a stack of entries, with a cap, whose idle bottom leaves after a second. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "barn/barn.h"
#include "cache/init.h"
#include "os/os.h"
#include "region/meta.h"
#include "service/dirty.h"
#include "service/options.h"
#include "slub/slub.h"

enum { ORDER = 1, PER_SHEAF = SHEAF_OBJS(ORDER), MODEL_MAX = 4096 };

static struct barn barn;
static unsigned char in_barn[20000]; /* by number of the object */
static size_t n_in_barn;

static struct entry object(size_t i) { return entry_make((void *)(uintptr_t)(0x10000 + 16 * i), &in_barn[i]); }
static size_t number(struct entry e) { return ((uintptr_t)e.en_obj - 0x10000) / 16; }

static struct slub_options at_start;

static int setup(void **state)
{
    (void)state;
    options = at_start; /* a test that failed leaves its own behind */
    barn_init(&barn, 16, ORDER);
    memset(in_barn, 0, sizeof in_barn);
    n_in_barn = 0;
    return init_ready() ? 0 : -1;
}

static int empty(void **state)
{
    struct entry objs[PER_SHEAF];
    (void)state;
    while (barn_get(&barn, objs, PER_SHEAF, true) != 0)
        ;
    barn_drop_spares(&barn);
    return 0;
}

static void note_in(size_t i)
{
    assert_false(in_barn[i]);
    in_barn[i] = 1;
    n_in_barn++;
}

static void note_out(struct entry e)
{
    size_t i = number(e);
    assert_true(i < MODEL_MAX && in_barn[i]);
    in_barn[i] = 0;
    n_in_barn--;
}

static size_t put_some(struct rng *r, size_t want)
{
    struct entry objs[64];
    size_t n = 0;
    for (size_t tries = 0; n < want && tries < 500; tries++) {
        size_t i = rng_below(r, MODEL_MAX);
        bool twice = in_barn[i];
        for (size_t k = 0; k < n; k++)
            twice |= objs[k].en_obj == object(i).en_obj;
        if (!twice)
            objs[n++] = object(i);
    }
    size_t done = barn_put(&barn, objs, n);
    assert_true(done <= n);
    for (size_t k = 0; k < done; k++)
        note_in(number(objs[k]));
    return done;
}

static void nothing_is_lost(void **state)
{
    struct rng r = unit_rng();
    uint64_t puts = 0, gets = 0;
    (void)state;
    for (int step = 0; step < 50000; step++) {
        struct entry objs[64];
        size_t n = rng_below(&r, 64);
        if (rng_below(&r, 2) == 0 && n_in_barn < MODEL_MAX / 2) {
            puts += put_some(&r, n);
        } else {
            size_t got = barn_get(&barn, objs, n, true);
            assert_true(got <= n);
            assert_true(got != 0 || n == 0 || n_in_barn == 0);
            for (size_t k = 0; k < got; k++)
                note_out(objs[k]);
            gets += got;
        }
        assert_int_equal(barn_n_objs(&barn), n_in_barn);
    }
    assert_int_equal(barn.bn_count.bc_put_objs, puts);
    assert_int_equal(barn.bn_count.bc_get_objs, gets);
}

static void last_in_leaves_first(void **state)
{
    struct entry in[3 * PER_SHEAF], out[3 * PER_SHEAF];
    (void)state;
    for (size_t i = 0; i < 3 * PER_SHEAF; i++)
        in[i] = object(i);
    assert_int_equal(barn_put(&barn, in, 3 * PER_SHEAF), 3 * PER_SHEAF);
    for (size_t left = 3; left-- > 0;) {
        assert_int_equal(barn_get(&barn, out, PER_SHEAF, true), PER_SHEAF);
        assert_memory_equal(out, in + left * PER_SHEAF, PER_SHEAF * sizeof *out);
    }
    assert_int_equal(barn_get(&barn, out, 1, true), 0);
    assert_int_equal(barn.bn_count.bc_get_fails, 1);
}

/* The two-step form, with fewer objects than room, down to none. */
static void open_and_close(void **state)
{
    (void)state;
    struct sheaf *sh = barn_open_room(&barn, 5);
    assert_non_null(sh);
    barn_close_put(&barn, sh, 0);
    assert_int_equal(barn_n_objs(&barn), 0);
    assert_null(barn_open_filled(&barn, true));
    sh = barn_open_room(&barn, 2);
    assert_non_null(sh);
    sh->sh_entries[0] = object(1);
    sh->sh_entries[1] = object(2);
    barn_close_put(&barn, sh, 2);
    sh = barn_open_filled(&barn, true);
    assert_non_null(sh);
    assert_int_equal(sh->sh_n_objs, 2);
    assert_ptr_equal(sh->sh_entries[1].en_obj, object(2).en_obj);
    barn_close_taken(&barn, sh, 1);
    assert_int_equal(barn_n_objs(&barn), 1);
}

static void take_all(void)
{
    struct entry objs[PER_SHEAF];
    size_t n;
    while ((n = barn_get(&barn, objs, PER_SHEAF, true)) != 0)
        while (n-- > 0)
            note_out(objs[n]);
}

/* However much is refused and wanted again, what a barn learns to keep stays below the options. */
static void caps_hold(void **state)
{
    uint64_t *const caps[] = {&options.barn_bytes, &options.barn_total_bytes};
    struct rng r = unit_rng();
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(setup(state), 0);
        *caps[i] = 100 * (16 + sizeof(struct entry));
        barn_init(&barn, 16, ORDER);
        for (int round = 0; round < 50; round++) {
            while (put_some(&r, 10) != 0)
                ;
            assert_true(n_in_barn <= 100);
            assert_true(n_in_barn > 100 - 2 * PER_SHEAF);
            take_all();
        }
        assert_true(barn.bn_count.bc_put_fails > 0);
    }
    assert_int_equal(setup(state), 0);
    options.barn_total_bytes = 0;
    assert_int_equal(put_some(&r, 1), 0);
}

static void drop_all(void)
{
    struct entry out[PER_SHEAF];
    while (barn_get(&barn, out, PER_SHEAF, true) != 0)
        ;
}

/* What was refused and then wanted is kept the next time. */
static void limit_is_learnt(void **state)
{
    static struct entry objs[20000];
    (void)state;
    for (size_t i = 0; i < 20000; i++)
        objs[i] = object(i);
    size_t first = barn_put(&barn, objs, 20000), kept = first;
    assert_in_range(first, 1, 19999);
    for (int round = 0; round < 2000 && kept < 20000; round++) {
        drop_all();
        for (size_t i = kept; i < 20000; i += PER_SHEAF) /* slabs serve what found no room */
            barn_learn(&barn);
        kept = barn_put(&barn, objs, 20000);
    }
    assert_true(kept == 20000);
    /* What was learnt leaks away, and a single miss does not bring it back. */
    usleep(20000 / BARN_LEAK_OBJS * 1000 + 50000);
    drop_all();
    barn_learn(&barn);
    assert_in_range(barn_put(&barn, objs, 20000), 1, first + 3 * PER_SHEAF);
}

/* What barns keep beyond the share of what is in use is given back when memory for others has to grow. */
static void growth_takes_what_is_kept(void **state)
{
    enum { N = 200000, KEPT = 4 << 20 };
    void **objs = malloc(N * sizeof *objs);
    (void)state;
    for (int round = 0; round < 500 && barn_total_bytes() < KEPT; round++) {
        for (size_t i = 0; i < N; i++)
            assert_non_null(objs[i] = slub_alloc(64, 0));
        for (size_t i = 0; i < N; i++)
            slub_free(objs[i]);
    }
    uint64_t before = barn_total_bytes();
    assert_true(before >= KEPT);
    for (size_t i = 0; i < N; i++)
        assert_non_null(objs[i] = slub_alloc(96, 0));
    assert_true(barn_total_bytes() <= max_size(dirty_share(&dirty_slabs), before / 2));
    for (size_t i = 0; i < N; i++)
        slub_free(objs[i]);
    free(objs);
}

/* Stored for a second without use: given up, but for what was used meanwhile. */
static void idle_objects_leave(void **state)
{
    struct rng r = unit_rng();
    struct entry objs[64];
    (void)state;
    while (barn_trim(&barn, objs, 64) != 0)
        ;
    size_t stored = 0;
    while (stored < 40 * PER_SHEAF)
        stored += put_some(&r, PER_SHEAF);
    while (!barn_is_due(&barn))
        usleep(20000);
    assert_int_equal(barn_trim(&barn, objs, 64), 0); /* they came within this second */
    assert_int_equal(barn_n_objs(&barn), stored);
    assert_false(barn_is_due(&barn));
    /* Three sheaves are used in the next second: the others were idle. */
    for (int i = 0; i < 3; i++) {
        size_t n = barn_get(&barn, objs, PER_SHEAF, true);
        assert_int_equal(barn_put(&barn, objs, n), n);
    }
    while (!barn_is_due(&barn))
        usleep(20000);
    size_t trimmed = 0, n;
    while ((n = barn_trim(&barn, objs, 64)) != 0) {
        for (size_t k = 0; k < n; k++)
            note_out(objs[k]);
        trimmed += n;
    }
    assert_true(trimmed >= stored - 4 * PER_SHEAF);
    assert_true(trimmed <= stored);
    assert_int_equal(barn_n_objs(&barn), n_in_barn);
    assert_int_equal(barn.bn_count.bc_trims, trimmed);
}

static void memory_comes_back(void **state)
{
    struct rng r = unit_rng();
    (void)state;
    uint64_t before = meta_used_bytes();
    for (int i = 0; i < 100; i++)
        put_some(&r, 40);
    assert_true(meta_used_bytes() > before);
    empty(NULL);
    assert_int_equal(meta_used_bytes(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_lost, setup, empty),
        cmocka_unit_test_setup_teardown(last_in_leaves_first, setup, empty),
        cmocka_unit_test_setup_teardown(open_and_close, setup, empty),
        cmocka_unit_test_setup_teardown(caps_hold, setup, empty),
        cmocka_unit_test_setup_teardown(limit_is_learnt, setup, empty),
        cmocka_unit_test_setup_teardown(growth_takes_what_is_kept, setup, empty),
        cmocka_unit_test_setup_teardown(idle_objects_leave, setup, empty),
        cmocka_unit_test_setup_teardown(memory_comes_back, setup, empty),
    };
    at_start = options;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
