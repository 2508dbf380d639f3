/* SPDX-License-Identifier: MIT */
/* Guards behind large blocks: where they are after every change of a block, that nothing is left of them in memory
 * that is used again, and what happens when the system refuses to make or to remove one. */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cache/init.h"
#include "large/guard.h"
#include "large/large.h"
#include "large/runs.h"
#include "os/fault.h"
#include "os/os.h"
#include "service/options.h"

enum { LEAST = 1 << 20, SMALL = LEAST / 2, BIG = 3 << 20 };

static int pipe_ends[2];
static bool has_guards;

static struct large *find(const void *p) { return large_find(p, gmap_find(p)); }

/* Asks the kernel, which answers instead of faulting. */
static bool can_read(const char *p)
{
    char byte;
    ssize_t n = write(pipe_ends[1], p, 1);
    if (n != 1) {
        assert_int_equal(errno, EFAULT);
        return false;
    }
    assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
    return true;
}

/* A guard begins where the block ends, and goes to the end of the run. */
static void check_guarded(char *p)
{
    const struct large *lg = find(p);
    assert_non_null(lg);
    assert_true(lg->lg_guarded);
    assert_true(run_bytes(lg) > lg->lg_bytes);
    assert_true(run_bytes(lg) - lg->lg_bytes <= SLUB_GRANULE_BYTES);
    memset(p, 1, lg->lg_bytes);
    for (size_t at = lg->lg_bytes; at < run_bytes(lg); at += os_page_size())
        assert_false(can_read(p + at));
}

static void check_open(char *p)
{
    const struct large *lg = find(p);
    assert_non_null(lg);
    assert_false(lg->lg_guarded);
    memset(p, 2, run_bytes(lg));
}

static char *new_block(size_t bytes)
{
    char *p = large_alloc(bytes, 1, NULL);
    assert_non_null(p);
    return p;
}

static char *resize(char *p, size_t bytes)
{
    p = large_realloc(find(p), bytes);
    assert_non_null(p);
    assert_int_equal(large_usable(find(p)), large_good_size(bytes));
    return p;
}

static int setup(void **state)
{
    (void)state;
    options.large_guard_bytes = LEAST;
    guard_init();
    return 0;
}

static void needs_guards(void)
{
    if (!has_guards) {
        print_message("this system has no guard regions (Linux 6.13): skipped\n");
        skip();
    }
}

static void from_the_least_size_on(void **state)
{
    (void)state;
    needs_guards();
    char *less = new_block(LEAST - os_page_size()), *least = new_block(LEAST), *odd = new_block(LEAST + 5000);
    check_open(less);
    check_guarded(least);
    check_guarded(odd);
    assert_int_equal(guard_count(), 2);
    assert_true(large_free(odd) && large_free(least) && large_free(less));
    assert_int_equal(guard_count(), 0);
    assert_false(guard_is_refused());
}

static void it_moves_with_the_end(void **state)
{
    (void)state;
    needs_guards();
    char *p = new_block(SMALL);
    for (size_t bytes = LEAST; bytes < 8 * BIG; bytes = bytes * 5 / 4)
        check_guarded(p = resize(p, bytes));
    char *behind = new_block(SMALL); /* so that growth moves p */
    check_guarded(p = resize(p, 9 * BIG));
    check_guarded(p = resize(p, 9 * BIG - os_page_size())); /* within its last granule */
    check_guarded(p = resize(p, LEAST));
    check_open(p = resize(p, SMALL));
    check_guarded(p = resize(p, BIG));
    assert_int_equal(guard_count(), 1);
    assert_true(large_free(p) && large_free(behind));
    assert_int_equal(guard_count(), 0);
}

/* Of two runs that are joined, one block takes what were two guards. */
static void nothing_is_left_of_it(void **state)
{
    (void)state;
    needs_guards();
    for (int purged = 0; purged < 2; purged++) {
        char *a = new_block(BIG), *b = new_block(BIG), *fence = new_block(SMALL);
        check_guarded(a);
        check_guarded(b);
        assert_true(large_free(a) && large_free(b));
        if (purged)
            large_purge(true);
        options.large_guard_bytes = 0;
        guard_init();
        char *whole = new_block(2 * BIG + 2 * SLUB_GRANULE_BYTES);
        check_open(whole);
        assert_true(large_free(whole) && large_free(fence));
        setup(NULL);
    }
}

static void it_is_there_in_a_child(void **state)
{
    (void)state;
    needs_guards();
    char *p = new_block(BIG);
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        check_guarded(p);
        check_guarded(p = resize(p, 2 * BIG));
        _exit(large_free(p) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    check_guarded(p);
    assert_true(large_free(p));
}

static void off_where_it_would_harm(void **state)
{
    (void)state;
    options.large_guard_bytes = 0;
    guard_init();
    assert_false(guard_is_wanted((size_t)1 << 40));
    options.large_guard_bytes = LEAST;
    options.thp = THP_MADVISE;
    guard_init();
    options.thp = THP_NEVER;
    assert_false(guard_is_wanted(BIG));
    guard_init();
    assert_true(guard_is_wanted(BIG));
    assert_false(guard_is_wanted(LEAST - 1));
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        struct rlimit little = {(rlim_t)1 << 46, (rlim_t)1 << 46};
        if (setrlimit(RLIMIT_AS, &little) != 0)
            _exit(2);
        guard_init();
        _exit(guard_is_wanted(BIG) ? 1 : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Blocks are as good without a guard, and the kernel is asked once. */
static void refused_when_made(void **state)
{
    (void)state;
    char *p = new_block(BIG), *fence = new_block(SMALL);
    assert_true(large_free(p));
    guard_init();
    fault_arm(1, false); /* there is a free run, so the guard is the first request */
    p = new_block(BIG);
    assert_true(fault_requests() > 0);
    assert_true(guard_is_refused());
    assert_false(guard_is_wanted(BIG));
    check_open(p);
    assert_true(large_free(p));
    fault_arm(0, false);
    p = new_block(BIG);
    assert_int_equal(fault_requests(), 0);
    check_open(p);
    check_open(p = resize(p, 2 * BIG));
    assert_true(large_free(p) && large_free(fence));
    assert_int_equal(guard_count(), 0);
}

/* What lies before the guard is used again, the guard never; a block stays as it was when its size cannot change. */
static void refused_when_removed(void **state)
{
    (void)state;
    needs_guards();
    char *p = new_block(BIG + os_page_size());
    check_guarded(p);
    const struct large *lg = find(p);
    uint64_t guard = lg->lg_first + lg->lg_n - 1;
    fault_arm(1, false);
    assert_ptr_equal(large_realloc(find(p), BIG / 2), p);
    fault_arm(0, false);
    check_guarded(p);
    assert_int_equal(large_usable(find(p)), BIG + os_page_size());
    assert_false(guard_is_wanted(BIG));

    fault_arm(1, true);
    assert_true(large_free(p));
    fault_arm(0, false);
    assert_null(find(p));
    assert_false(can_read((char *)gmap_address(guard) + os_page_size()));
    for (int i = 0; i < 64; i++) { /* nobody gets it */
        char *other = new_block(SMALL + (size_t)i * SLUB_GRANULE_BYTES);
        check_open(other);
        assert_false(find(other)->lg_first <= guard && guard < find(other)->lg_first + find(other)->lg_n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(from_the_least_size_on, setup), cmocka_unit_test_setup(it_moves_with_the_end, setup),
        cmocka_unit_test_setup(nothing_is_left_of_it, setup),  cmocka_unit_test_setup(it_is_there_in_a_child, setup),
        cmocka_unit_test_setup(off_where_it_would_harm, setup), cmocka_unit_test_setup(refused_when_made, setup),
        cmocka_unit_test_setup(refused_when_removed, setup),
    };
    char *page = mmap(NULL, os_page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || pipe(pipe_ends) != 0 || !init_ready())
        return 1;
    has_guards = os_guard(page, os_page_size()) == 0 && !can_read(page);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
