/* SPDX-License-Identifier: MIT */
/* How much free memory may keep its pages: a share of what is in use, and a credit that is learnt and leaks away. */
#include "unit.h"

#include <unistd.h>

#include "os/os.h"
#include "service/dirty.h"

enum { LEAST = 1 << 20 };

static uint64_t cap;
static struct dirty account;

static int setup(void **state)
{
    (void)state;
    cap = 1ull << 30;
    account = (struct dirty){.di_least = LEAST, .di_cap = &cap};
    return 0;
}

static void share_of_what_is_in_use(void **state)
{
    (void)state;
    assert_int_equal(dirty_allowed(&account), LEAST);
    dirty_add_in_use(&account, (int64_t)LEAST * DIRTY_SHARE * 3);
    assert_int_equal(dirty_allowed(&account), 3 * LEAST);
    dirty_add(&account, 3 * (int64_t)LEAST);
    assert_false(dirty_is_over(&account));
    assert_true(dirty_is_near(&account));
    dirty_add(&account, 1);
    assert_true(dirty_is_over(&account));
    dirty_add_in_use(&account, -(int64_t)LEAST * DIRTY_SHARE * 3);
    assert_int_equal(dirty_allowed(&account), LEAST);
    cap = 4096;
    assert_int_equal(dirty_allowed(&account), 4096);
    cap = 0;
    assert_int_equal(dirty_allowed(&account), 0);
}

static void regret_is_credit_that_leaks(void **state)
{
    (void)state;
    uint64_t credit = 100 * (uint64_t)DIRTY_LEAK, start = os_clock_ms();
    dirty_regret(&account, credit);
    uint64_t allowed = dirty_allowed(&account), took = os_clock_ms() - start;
    assert_true(allowed <= LEAST + credit);
    assert_true(allowed + took * DIRTY_LEAK >= LEAST + credit);
    usleep(30000);
    uint64_t later = dirty_allowed(&account);
    assert_true(later < allowed);
    while (os_clock_ms() - start <= 120)
        usleep(10000);
    assert_int_equal(dirty_allowed(&account), LEAST);
}

/* However much is wanted again, what is kept stays below the option. */
static void cap_bounds_the_credit(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        dirty_regret(&account, cap);
    assert_true(dirty_allowed(&account) <= cap);
    assert_true(atomic_load(&account.di_credit) <= 2 * cap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(share_of_what_is_in_use, setup),
        cmocka_unit_test_setup(regret_is_credit_that_leaks, setup),
        cmocka_unit_test_setup(cap_bounds_the_credit, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
