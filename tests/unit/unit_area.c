/* SPDX-License-Identifier: MIT */
/* One per-CPU area as plain memory: arrays taken and given, slots grown, pushes and pops against a model. */
#include "unit.h"

#include <string.h>

#include "barn/barn.h"
#include "percpu/area.h"

enum { IDS = 20, FIRST_ID = 8, STACK_MAX = 2 * SHEAF_MAX_OBJS };

static char *area;

static uint32_t array_words(unsigned order) { return (16u << order) * ENTRY_WORDS; }

struct model {
    struct entry objs[STACK_MAX];
    size_t n, capacity;
};
static struct model model[IDS];

static int setup(void **state)
{
    (void)state;
    area = aligned_alloc(64, PERCPU_BYTES);
    if (area == NULL)
        return -1;
    memset(area, 0, PERCPU_BYTES);
    memset(model, 0, sizeof model);
    area_init(area);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(area);
    return 0;
}

static void slots_begin_closed(void **state)
{
    struct entry e = entry_make(&e, NULL);
    (void)state;
    assert_int_equal(area_push_bulk(area, FIRST_ID, &e, 1), 0);
    assert_int_equal(area_pop_bulk(area, FIRST_ID, &e, 1), 0);
    assert_int_equal(room_capacity(area_room(area, FIRST_ID)), 0);
    assert_int_equal(area_head(area)->ah_end_id, 0);
}

static void arrays_do_not_overlap(void **state)
{
    struct rng r = unit_rng();
    static unsigned char owner[PERCPU_END_WORD];
    uint32_t at[512];
    unsigned order[512];
    size_t n = 0;
    (void)state;
    for (int step = 0; step < 20000; step++) {
        if (n < 512 && rng_below(&r, 2) == 0) {
            unsigned o = (unsigned)rng_below(&r, AREA_N_ORDERS);
            uint32_t w = area_take_array(area, o);
            if (w == 0)
                continue;
            assert_true(w >= PERCPU_FIRST_WORD && w + array_words(o) <= PERCPU_END_WORD);
            assert_true(array_end(w, o) <= w + array_words(o));
            for (uint32_t i = w; i < w + array_words(o); i++) {
                assert_int_equal(owner[i], 0);
                owner[i] = 1;
            }
            at[n] = w;
            order[n++] = o;
        } else if (n != 0) {
            size_t i = rng_below(&r, n);
            memset(owner + at[i], 0, array_words(order[i]));
            area_give_array(area, order[i], at[i]);
            at[i] = at[--n];
            order[i] = order[n];
        }
    }
}

static void full_area_refuses(void **state)
{
    size_t n = 0;
    (void)state;
    while (area_take_array(area, AREA_N_ORDERS - 1) != 0)
        n++;
    assert_true(n >= 40 && n * array_words(AREA_N_ORDERS - 1) <= PERCPU_END_WORD);
    while (area_take_array(area, 0) != 0)
        ;
    assert_false(area_grow_slot(area, FIRST_ID, 0));
    assert_int_equal(slot_n_objs(area_slot(area, FIRST_ID)), 0);
}

static void rooms_grow_after_misses(void **state)
{
    struct room *room = area_room(area, FIRST_ID);
    unsigned misses = 0;
    (void)state;
    assert_true(room_wants_more(room, 0, 0)); /* no array yet */
    assert_true(area_grow_slot(area, FIRST_ID, 0));
    while (!room_wants_more(room, 3, 3) && misses < 100)
        misses++;
    assert_in_range(misses, 1, 16);
    assert_true(area_grow_slot(area, FIRST_ID, 1));
    assert_false(room_wants_more(room, 3, 3)); /* counted anew */
    for (int i = 0; i < 1000; i++)
        assert_false(room_wants_more(room, 1, 1)); /* at its most */
}

static void check(size_t i)
{
    const struct model *m = &model[i];
    unsigned id = FIRST_ID + (unsigned)i;
    const struct slot *s = area_slot(area, id);
    assert_int_equal(slot_n_objs(s), m->n);
    assert_int_equal(room_capacity(area_room(area, id)), m->capacity);
    if (m->n != 0)
        assert_memory_equal(area_entry(area, slot_load(&s->so_begin)), m->objs, m->n * sizeof *m->objs);
}

static void against_a_model(void **state)
{
    struct rng r = unit_rng();
    uintptr_t next = 1;
    (void)state;
    for (int step = 0; step < 50000; step++) {
        size_t i = rng_below(&r, IDS);
        struct model *m = &model[i];
        unsigned id = FIRST_ID + (unsigned)i;
        struct entry objs[64];
        size_t n = rng_below(&r, 64), done;
        switch (rng_below(&r, 16)) {
        case 0: {
            struct room *room = area_room(area, id);
            if (room->ro_order < AREA_N_ORDERS && area_grow_slot(area, id, room->ro_order))
                m->capacity = 2 * SHEAF_OBJS(room->ro_order - 1u);
            break;
        }
        case 1: case 2: case 3: case 4: case 5: case 6: case 7:
            for (size_t k = 0; k < n; k++)
                objs[k] = entry_make((void *)(next + k), (uint8_t *)(next + k + 1));
            done = area_push_bulk(area, id, objs, n);
            assert_int_equal(done, min_size(n, m->capacity - m->n));
            memcpy(m->objs + m->n, objs, done * sizeof *objs);
            m->n += done;
            next += n;
            break;
        default:
            done = area_pop_bulk(area, id, objs, n);
            assert_int_equal(done, min_size(n, m->n));
            m->n -= done;
            assert_memory_equal(objs, m->objs + m->n, done * sizeof *objs);
        }
        check(i);
    }
    for (size_t i = 0; i < IDS; i++)
        check(i);
    assert_true(area_head(area)->ah_end_id <= FIRST_ID + IDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slots_begin_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(arrays_do_not_overlap, setup, teardown),
        cmocka_unit_test_setup_teardown(full_area_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(rooms_grow_after_misses, setup, teardown),
        cmocka_unit_test_setup_teardown(against_a_model, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
