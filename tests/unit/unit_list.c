/* SPDX-License-Identifier: MIT */
/* The intrusive list against an array that does the same. */
#include "unit.h"

#include <string.h>

#include "base/list.h"

struct node {
    int value;
    struct list link;
};

static void first_and_last(void **state)
{
    struct list l;
    struct node a = {1, {NULL, NULL}}, b = {2, {NULL, NULL}};
    (void)state;
    list_init(&l);
    assert_true(list_is_empty(&l));
    list_push_front(&l, &a.link);
    assert_ptr_equal(list_first(&l, struct node, link), &a);
    assert_ptr_equal(list_last(&l, struct node, link), &a);
    list_push_back(&l, &b.link);
    assert_ptr_equal(list_first(&l, struct node, link), &a);
    assert_ptr_equal(list_last(&l, struct node, link), &b);
    list_remove(&a.link);
    assert_true(list_is_empty(&a.link)); /* points to itself: may be removed again */
    list_remove(&a.link);
    assert_ptr_equal(list_first(&l, struct node, link), &b);
    list_remove(&b.link);
    assert_true(list_is_empty(&l));
}

static void check_same(struct list *l, struct node *const *model, size_t n)
{
    size_t i = 0;
    for (struct list *p = l->next; p != l; p = p->next, i++) {
        assert_true(i < n);
        assert_ptr_equal(container_of(p, struct node, link), model[i]);
        assert_ptr_equal(p->next->prev, p);
        assert_ptr_equal(p->prev->next, p);
    }
    assert_int_equal(i, n);
}

static void against_an_array(void **state)
{
    enum { N = 64 };
    struct rng r = unit_rng();
    struct node nodes[N];
    struct node *model[N];
    size_t n = 0;
    struct list l;
    (void)state;
    list_init(&l);
    for (int i = 0; i < N; i++) {
        nodes[i].value = 0; /* on the list */
        list_init(&nodes[i].link);
    }
    for (int step = 0; step < 20000; step++) {
        struct node *x = &nodes[rng_below(&r, N)];
        if (x->value) {
            size_t i = 0;
            while (model[i] != x)
                i++;
            memmove(model + i, model + i + 1, (n - i - 1) * sizeof *model);
            n--;
            list_remove(&x->link);
        } else if (rng_below(&r, 2) == 0) {
            memmove(model + 1, model, n * sizeof *model);
            model[0] = x;
            n++;
            list_push_front(&l, &x->link);
        } else {
            model[n++] = x;
            list_push_back(&l, &x->link);
        }
        x->value = !x->value;
        check_same(&l, model, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_and_last), cmocka_unit_test(against_an_array)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
