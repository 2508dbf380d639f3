/* SPDX-License-Identifier: MIT */
/* The parser of the option table: good words, bad words, suffixes, bounds, and what is left untouched. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "service/options.h"

static struct slub_options at_start;

static int reset(void **state)
{
    (void)state;
    options = at_start;
    return 0;
}

static void good(const char *string) { assert_int_equal(options_parse(string), 0); }

/* Refused, and nothing changed. */
static void bad(const char *string)
{
    struct slub_options before = options;
    assert_int_equal(options_parse(string), 1);
    assert_memory_equal(&options, &before, sizeof options);
}

static void empty_strings(void **state)
{
    (void)state;
    good("");
    good("  \t\n ");
    assert_memory_equal(&options, &at_start, sizeof options);
}

static void defaults_lie_within_bounds(void **state)
{
    (void)state;
#define IS_BOOL 1
#define IS_UINT 1
#define IS_ENUM 0
#define IS_FLAG 0
#define IS_TEXT 0
#define OPTION(id, name, type, def, min, max, unit, stability, help) \
    if (IS_##type)                                                   \
        assert_in_range(*(const uint64_t *)(const void *)&at_start.id, min, max);
#include "service/options.def"
#undef OPTION
}

/* Every option of the table is found by its name, with its bounds. */
static void bounds_of_every_number(void **state)
{
    char word[128];
    (void)state;
#define CHECK(id, name, value, ok)                                                \
    do {                                                                          \
        snprintf(word, sizeof word, "%s=%llu", name, (unsigned long long)(value)); \
        assert_int_equal(options_parse(word), (ok) ? 0 : 1);                      \
        if (ok)                                                                   \
            assert_true(*(const uint64_t *)(const void *)&options.id == (value)); \
    } while (0)
#define OPTION(id, name, type, def, min, max, unit, stability, help)             \
    if (IS_##type) {                                                             \
        uint64_t least = min, most = max;                                        \
        CHECK(id, name, least, true);                                            \
        CHECK(id, name, most, true);                                             \
        CHECK(id, name, most + 1, false);                                        \
        if (least > 0)                                                           \
            CHECK(id, name, least - 1, false);                                   \
    }
#include "service/options.def"
#undef OPTION
}

static void words_of_every_choice(void **state)
{
    (void)state;
    good("percpu=lock mode=fast slab_freelist_random=strong thp=madvise");
    assert_int_equal(options.percpu, PERCPU_LOCK);
    assert_int_equal(options.mode, MODE_FAST);
    assert_int_equal(options.freelist_random, RANDOM_STRONG);
    assert_int_equal(options.thp, THP_MADVISE);
    good("percpu=auto\tpercpu=rseq\npercpu=thread");
    assert_int_equal(options.percpu, PERCPU_THREAD);
    good("slab_freelist_random=0");
    assert_int_equal(options.freelist_random, RANDOM_OFF);
    bad("percpu=");
    bad("percpu");
    bad("percpu=loc");
    bad("percpu=locks");
    bad("percpu=auto|rseq");
    bad("percpu=LOCK");
    bad("slab_freelist_random=2");
}

static void suffixes(void **state)
{
    static const struct {
        const char *word;
        uint64_t bytes;
    } cases[] = {{"slab_dirty_bytes=0", 0},           {"slab_dirty_bytes=3K", 3 << 10},
                 {"slab_dirty_bytes=3k", 3 << 10},    {"slab_dirty_bytes=5M", 5 << 20},
                 {"slab_dirty_bytes=5m", 5 << 20},    {"slab_dirty_bytes=2G", 2ull << 30},
                 {"slab_dirty_bytes=1g", 1ull << 30}, {"slab_dirty_bytes=0000012", 12}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        good(cases[i].word);
        assert_true(options.dirty_bytes == cases[i].bytes);
    }
}

static void malformed_numbers(void **state)
{
    static const char *const values[] = {"",    "K",    "-1",   "+1",   "0x10", "1KK",  "1T",  "1.5K", "K1",
                                         "1x",  "1e3", "1,2",  "18446744073709551615",
                                         "18446744073709551616", "99999999999999999999999", "17179869184G",
                                         "18014398509481984K", "1K="};
    char word[128];
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(word, sizeof word, "slab_dirty_bytes=%s", values[i]);
        struct slub_options before = options;
        assert_true(options_parse(word) >= 1);
        assert_memory_equal(&options, &before, sizeof options);
    }
    bad("slab_dirty_bytes");
    bad("slab_stats=2");
    bad("slab_stats=yes");
    bad("slab_stats");
}

static void unknown_names(void **state)
{
    (void)state;
    bad("no_such_option=1");
    bad("slab_dirty_byte=1");
    bad("slab_dirty_bytess=1");
    bad("SLAB_DIRTY_BYTES=1");
    bad("=1");
    bad("=");
}

static void bad_words_do_not_stop_good_ones(void **state)
{
    (void)state;
    assert_int_equal(options_parse("x slab_stats=1 y=2 slab_min_objects=7 =z"), 3);
    assert_int_equal(options.stats, 1);
    assert_int_equal(options.min_objects, 7);
}

static void texts(void **state)
{
    char word[OPTION_TEXT_MAX + 64] = "slabinfo=";
    size_t name_len = strlen(word);
    (void)state;
    good("slabinfo=stderr");
    assert_string_equal(options.slabinfo, "stderr");
    good("slabinfo=a=b");
    assert_string_equal(options.slabinfo, "a=b");
    bad("slabinfo=");
    bad("slabinfo");
    memset(word + name_len, 'x', OPTION_TEXT_MAX - 1);
    good(word);
    assert_int_equal(strlen(options.slabinfo), OPTION_TEXT_MAX - 1);
    word[name_len + OPTION_TEXT_MAX - 1] = 'x';
    bad(word);
}

/* Whatever bytes come, the parser ends and stays within its fields. */
static void random_bytes(void **state)
{
    struct rng r = unit_rng();
    (void)state;
    for (int i = 0; i < 2000; i++) {
        static const char alphabet[] = "slab_dirty_bytes=percpu|0123456789KMG \t\n=\x01\xff";
        char s[64];
        size_t n = rng_below(&r, sizeof s);
        for (size_t k = 0; k < n; k++)
            s[k] = alphabet[rng_below(&r, sizeof alphabet - 1)];
        s[n < sizeof s ? n : sizeof s - 1] = 0;
        options_parse(s);
        assert_true(options.percpu <= PERCPU_LOCK && options.stats <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(empty_strings, reset),
        cmocka_unit_test_setup(defaults_lie_within_bounds, reset),
        cmocka_unit_test_setup(bounds_of_every_number, reset),
        cmocka_unit_test_setup(words_of_every_choice, reset),
        cmocka_unit_test_setup(suffixes, reset),
        cmocka_unit_test_setup(malformed_numbers, reset),
        cmocka_unit_test_setup(unknown_names, reset),
        cmocka_unit_test_setup(bad_words_do_not_stop_good_ones, reset),
        cmocka_unit_test_setup(texts, reset),
        cmocka_unit_test_setup(random_bytes, reset),
    };
    /* The parser names bad words on descriptor 2; here there are thousands. cmocka keeps its own way out. */
    int null = open("/dev/null", O_WRONLY), out = dup(2);
    FILE *f = out >= 0 ? fdopen(out, "w") : NULL;
    if (null < 0 || f == NULL)
        return 1;
    setvbuf(f, NULL, _IONBF, 0);
    stderr = f;
    dup2(null, 2);
    at_start = options;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
