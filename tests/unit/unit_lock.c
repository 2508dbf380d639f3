/* SPDX-License-Identifier: MIT */
/* The lock: exclusion with more threads than CPUs, sleeping and waking, trying, and who is inside. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/lock.h"

enum { THREADS = 8, ROUNDS = 40000 };

static struct lock lock = LOCK_INIT;
static uint64_t counter, shadow; /* [lock:lock] */
static unsigned n_inside;        /* [lock:lock] */

static void *contend(void *arg)
{
    struct rng r = {(uint64_t)(uintptr_t)arg};
    for (int i = 0; i < ROUNDS; i++) {
        lock_acquire(&lock);
        if (n_inside++ != 0)
            return (void *)1;
        counter++;
        if (rng_below(&r, 512) == 0)
            sched_yield(); /* so that others meet a held lock, and sleep */
        shadow++;
        n_inside--;
        lock_release(&lock);
    }
    return NULL;
}

static void threads_exclude_each_other(void **state)
{
    pthread_t t[THREADS];
    (void)state;
    counter = shadow = 0;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, contend, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *ret;
        pthread_join(t[i], &ret);
        assert_null(ret);
    }
    assert_int_equal(counter, THREADS * ROUNDS);
    assert_int_equal(shadow, THREADS * ROUNDS);
    assert_int_equal(atomic_load(&lock.lk_state), 0);
}

static void *wait_for_it(void *arg)
{
    struct rusage ru;
    (void)arg;
    lock_acquire(&lock);
    lock_release(&lock);
    getrusage(RUSAGE_THREAD, &ru);
    return (void *)(uintptr_t)(ru.ru_utime.tv_sec * 1000000 + ru.ru_utime.tv_usec + ru.ru_stime.tv_sec * 1000000 +
                               ru.ru_stime.tv_usec);
}

/* Who waits long must sleep, not spin; and must be woken, every one of several. */
static void waiters_sleep_and_are_woken(void **state)
{
    pthread_t t[4];
    (void)state;
    lock_acquire(&lock);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, wait_for_it, NULL), 0);
    usleep(300000);
    lock_release(&lock);
    for (int i = 0; i < 4; i++) {
        void *us;
        pthread_join(t[i], &us);
        assert_true((uintptr_t)us < 100000);
    }
    assert_int_equal(atomic_load(&lock.lk_state), 0);
}

static void trying(void **state)
{
    (void)state;
    assert_true(lock_try(&lock));
    assert_false(lock_try(&lock));
    lock_release(&lock);
    assert_true(lock_try(&lock));
    lock_release(&lock);
}

/* What a handler on this thread goes by. */
static void holders_are_inside(void **state)
{
    static struct lock other = LOCK_INIT;
    (void)state;
    assert_false(lock_is_inside());
    lock_acquire(&lock);
    assert_true(lock_is_inside());
    assert_false(lock_try(&lock));
    assert_true(lock_try(&other));
    lock_release(&lock);
    assert_true(lock_is_inside());
    lock_release(&other);
    assert_false(lock_is_inside());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trying),
        cmocka_unit_test(holders_are_inside),
        cmocka_unit_test(threads_exclude_each_other),
        cmocka_unit_test(waiters_sleep_and_are_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
