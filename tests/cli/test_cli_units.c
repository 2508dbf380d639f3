/* SPDX-License-Identifier: MIT */
/* Unit tests of what the command reads and computes: lists, option strings, allocator names,
 * statistics. */
#include "opt_table.h"
#include "runner/allocators.h"
#include "runner/lists.h"
#include "stats/summary.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void numbers_have_suffixes_and_bounds(void **state)
{
    uint64_t v = 0;
    (void)state;
    assert_int_equal(lists_parse_number("17", 0, 100, &v), 0);
    assert_int_equal(v, 17);
    assert_int_equal(lists_parse_number("4k", 0, 1 << 20, &v), 0);
    assert_int_equal(v, 4096);
    assert_int_equal(lists_parse_number("18446744073709551615", 0, UINT64_MAX, &v), 0);
    assert_true(v == UINT64_MAX);
    assert_int_equal(lists_parse_number("18446744073709551616", 0, UINT64_MAX, &v), -ERANGE);
    assert_int_equal(lists_parse_number("17179869184G", 0, UINT64_MAX, &v), -ERANGE);
    assert_int_equal(lists_parse_number("101", 0, 100, &v), -ERANGE);
    assert_int_equal(lists_parse_number("", 0, 100, &v), -EINVAL);
    assert_int_equal(lists_parse_number("-1", 0, 100, &v), -EINVAL);
    assert_int_equal(lists_parse_number("1x", 0, 100, &v), -EINVAL);
}

static void sizes_double_within_a_range(void **state)
{
    size_t sizes[8];
    size_t n = 0;
    (void)state;
    assert_int_equal(lists_parse_sizes("8-100,1k", 1, 1 << 20, sizes, 8, &n), 0);
    const size_t expected[] = {8, 16, 32, 64, 1024};
    assert_int_equal(n, 5);
    assert_memory_equal(sizes, expected, sizeof(expected));
    assert_int_equal(lists_parse_sizes("8-4096", 1, 1 << 20, sizes, 8, &n), -ERANGE);
    assert_int_equal(lists_parse_sizes("0", 1, 1 << 20, sizes, 8, &n), -ERANGE);
    assert_int_equal(lists_parse_sizes("16-8", 1, 1 << 20, sizes, 8, &n), -ERANGE);
    assert_int_equal(lists_parse_sizes("8,", 1, 1 << 20, sizes, 8, &n), -EINVAL);
    assert_int_equal(lists_parse_sizes("", 1, 1 << 20, sizes, 8, &n), -EINVAL);
}

static void ids_round_trip(void **state)
{
    unsigned ids[8];
    size_t n = 0;
    char text[64];
    (void)state;
    assert_int_equal(lists_parse_ids("0-2,7", 100, ids, 8, &n), 0);
    assert_int_equal(n, 4);
    assert_int_equal(ids[3], 7);
    lists_format_ids(ids, n, text, sizeof(text));
    assert_string_equal(text, "0-2,7");
    assert_int_equal(lists_parse_ids("101", 100, ids, 8, &n), -ERANGE);
    assert_int_equal(lists_parse_ids("a", 100, ids, 8, &n), -EINVAL);
}

static void option_strings_are_judged(void **state)
{
    static const char *const good[] = {"",
                                       "slab_stats=1",
                                       "  percpu=lock   slab_dirty_bytes=32M ",
                                       "slab_freelist_random=strong\tthp=never",
                                       "mode=fast",
                                       "slabinfo=/some/file"};
    static const char *const bad[] = {"slab_stats=2",     "slab_stats",         "slab_stats=",
                                      "nonsense=1",       "percpu=gpu",         "slab_max_order=5",
                                      "slab_max_order=x", "slab_max_order=1KK", "mode=hardened",
                                      "slabinfo=",        "slab_stats=1 foo",   "slab_stat=1"};
    char why[256];
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        if (opt_check(good[i], why, sizeof(why)) != 0)
            fail_msg("'%s' refused: %s", good[i], why);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (opt_check(bad[i], why, sizeof(why)) == 0)
            fail_msg("'%s' accepted", bad[i]);
        assert_null(strchr(why, '\n'));
    }
}

static void the_last_value_of_an_option_counts(void **state)
{
    const char *value = NULL;
    size_t n = 0;
    (void)state;
    assert_int_equal(opt_find("mode=default x=1 mode=fast", "mode", &value, &n), 0);
    assert_int_equal(n, 4);
    assert_memory_equal(value, "fast", 4);
    assert_int_equal(opt_find("modes=1 mod=2", "mode", &value, &n), -1);
}

static void every_default_is_a_valid_value(void **state)
{
    (void)state;
    assert_true(n_opt_rows > 10);
    for (size_t i = 0; i < n_opt_rows; i++) {
        char text[64];
        char word[160];
        char why[256];
        opt_default_text(&opt_rows[i], text, sizeof(text));
        if (opt_rows[i].type == OPT_TEXT || opt_rows[i].type == OPT_FLAG)
            continue;
        snprintf(word, sizeof(word), "%s=%s", opt_rows[i].name, text);
        if (opt_check(word, why, sizeof(why)) != 0)
            fail_msg("%s", why);
    }
}

static void statistics_of_a_known_series(void **state)
{
    double series[] = {4, 1, 3, 2, 10};
    struct lab_summary s;
    (void)state;
    lab_summarize(series, 5, &s);
    assert_int_equal(s.n, 5);
    assert_true(s.min == 1 && s.max == 10 && s.median == 3 && s.mean == 4);
    assert_true(fabs(s.stddev - sqrt(50.0 / 4)) < 1e-9);
    assert_true(s.mad == 1);
    assert_true(s.p99 > 4 && s.p99 <= 10);
    double one[] = {7};
    lab_summarize(one, 1, &s);
    assert_true(s.min == 7 && s.p99 == 7 && s.stddev == 0 && s.mad == 0);
    lab_summarize(NULL, 0, &s);
    assert_true(s.n == 0 && s.min == 0);
    const double ratios[] = {0.5, 2, 1};
    assert_true(fabs(lab_geometric_mean(ratios, 3) - 1) < 1e-12);
}

static const char *value_in(char **env, const char *name)
{
    const char *found = NULL;
    const size_t n = strlen(name);
    for (size_t i = 0; env[i] != NULL; i++) {
        if (strncmp(env[i], name, n) == 0 && env[i][n] == '=') {
            assert_null(found); /* once only */
            found = env[i] + n + 1;
        }
    }
    return found;
}

static struct lab_allocator allocator_with(const char *options, const char *variable, int is_slub)
{
    struct lab_allocator a = {0};
    a.path = strdup("/lib/libx.so");
    a.options = options == NULL ? NULL : strdup(options);
    a.options_variable = variable;
    a.is_slub = is_slub;
    return a;
}

static void options_reach_the_environment(void **state)
{
    (void)state;
    setenv("LD_PRELOAD", "", 1);
    setenv("SLUB_OPTIONS", "percpu=lock", 1);
    struct lab_allocator slub = allocator_with("slab_stats=1", "SLUB_OPTIONS", 1);
    char **env = lab_allocator_environ(&slub);
    assert_non_null(env);
    assert_string_equal(value_in(env, "LD_PRELOAD"), "/lib/libx.so");
    assert_string_equal(value_in(env, "SLUB_OPTIONS"), "percpu=lock slab_stats=1");
    lab_environ_free(env);
    lab_allocator_free(&slub);

    struct lab_allocator other = allocator_with("A_ONE=1,A_TWO=x=y", NULL, 0);
    env = lab_allocator_environ(&other);
    assert_non_null(env);
    assert_string_equal(value_in(env, "A_ONE"), "1");
    assert_string_equal(value_in(env, "A_TWO"), "x=y");
    assert_string_equal(value_in(env, "SLUB_OPTIONS"), "percpu=lock");
    lab_environ_free(env);
    lab_allocator_free(&other);
    unsetenv("LD_PRELOAD");
    unsetenv("SLUB_OPTIONS");
}

static void equal_names_get_numbers(void **state)
{
    struct lab_allocator a[4] = {{.name = "x"}, {.name = "y"}, {.name = "x"}, {.name = "x"}};
    (void)state;
    lab_allocators_label(a, 4);
    assert_string_equal(a[0].label, "x");
    assert_string_equal(a[1].label, "y");
    assert_string_equal(a[2].label, "x#2");
    assert_string_equal(a[3].label, "x#3");
    for (size_t i = 0; i < 4; i++)
        free(a[i].label);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_suffixes_and_bounds),
        cmocka_unit_test(sizes_double_within_a_range),
        cmocka_unit_test(ids_round_trip),
        cmocka_unit_test(option_strings_are_judged),
        cmocka_unit_test(the_last_value_of_an_option_counts),
        cmocka_unit_test(every_default_is_a_valid_value),
        cmocka_unit_test(statistics_of_a_known_series),
        cmocka_unit_test(options_reach_the_environment),
        cmocka_unit_test(equal_names_get_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
