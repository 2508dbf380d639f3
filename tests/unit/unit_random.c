/* SPDX-License-Identifier: MIT */
/* The random stream: ChaCha8 as published, key erasure, an even shuffle, and a source of the caller's. */
#include "unit.h"

#include <string.h>

#include "base/random.h"

/* draft-strombergsson-chacha-test-vectors, TC1 (256-bit key of zeros, IV of zeros), 8 rounds: block 0. */
static const uint8_t block0[64] = {
    0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6, 0x7f, 0x5b, 0xb8, 0xe8, 0x1f, 0x09, 0xa5, 0xa1,
    0x2c, 0x84, 0x0e, 0xc3, 0xce, 0x9a, 0x7f, 0x3b, 0x18, 0x1b, 0xe1, 0x88, 0xef, 0x71, 0x1a, 0x1e,
    0x98, 0x4c, 0xe1, 0x72, 0xb9, 0x21, 0x6f, 0x41, 0x9f, 0x44, 0x53, 0x67, 0x45, 0x6d, 0x56, 0x19,
    0x31, 0x4a, 0x42, 0xa3, 0xda, 0x86, 0xb0, 0x01, 0x38, 0x7b, 0xfd, 0xb8, 0x0e, 0x0c, 0xfe, 0x42};

static void seed_with(struct random_stream *rs, uint8_t byte)
{
    uint8_t seed[32];
    memset(seed, byte, sizeof seed);
    memset(rs, 0, sizeof *rs);
    random_seed(rs, seed);
}

static void first_block_is_chacha8(void **state)
{
    struct random_stream rs;
    (void)state;
    seed_with(&rs, 0);
    random_refill(&rs);
    assert_memory_equal(rs.rs_block, block0, sizeof block0);
    /* Pieces come from the end, each once. */
    for (unsigned i = 32; i-- > 0;)
        assert_int_equal(random_u16(&rs), block0[2 * i] | block0[2 * i + 1] << 8);
    random_u16(&rs);
    assert_int_equal(rs.rs_left, 31);
    assert_memory_not_equal(rs.rs_block, block0, sizeof block0);
}

static void same_seed_same_numbers(void **state)
{
    struct random_stream a, b, c;
    unsigned n_same = 0;
    (void)state;
    seed_with(&a, 1);
    seed_with(&b, 1);
    seed_with(&c, 2);
    for (int i = 0; i < 10000; i++) {
        uint32_t x = random_u16(&a);
        assert_int_equal(x, random_u16(&b));
        n_same += x == random_u16(&c);
    }
    assert_true(n_same < 20);
}

/* A key lasts a few blocks; afterwards nothing in the stream says what came before. */
static void key_is_erased(void **state)
{
    struct random_stream rs;
    uint32_t first_key[8], last_key[8];
    unsigned n_keys = 0, blocks_since = 0;
    (void)state;
    seed_with(&rs, 3);
    memcpy(first_key, rs.rs_key, sizeof first_key);
    memcpy(last_key, rs.rs_key, sizeof last_key);
    for (int i = 0; i < 64; i++) {
        random_refill(&rs);
        blocks_since++;
        if (memcmp(last_key, rs.rs_key, sizeof last_key) != 0) {
            n_keys++;
            blocks_since = 0;
            memcpy(last_key, rs.rs_key, sizeof last_key);
            assert_memory_not_equal(rs.rs_key, first_key, sizeof first_key);
            /* A key that is also in the output would be no secret. */
            assert_memory_not_equal(rs.rs_key, rs.rs_block, sizeof rs.rs_key);
        }
        assert_true(blocks_since <= 8);
    }
    assert_true(n_keys >= 8);
    /* The erased key would have led elsewhere: the new one matters. */
    struct random_stream old = rs;
    memcpy(old.rs_key, first_key, sizeof first_key);
    random_refill(&rs);
    random_refill(&old);
    assert_memory_not_equal(rs.rs_block, old.rs_block, sizeof rs.rs_block);
}

/* Pearson's chi-squared; `limit` is beyond its 1e-6 quantile for the degrees of freedom. */
static double chi_squared(const unsigned *count, size_t cells, double expected)
{
    double sum = 0;
    for (size_t i = 0; i < cells; i++)
        sum += (count[i] - expected) * (count[i] - expected) / expected;
    return sum;
}

static void below_is_even(void **state)
{
    enum { N = 100, DRAWS = 200000 };
    struct random_stream rs;
    unsigned count[N] = {0};
    (void)state;
    seed_with(&rs, 4);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t x = random_below(&rs, N);
        assert_true(x < N);
        count[x]++;
    }
    assert_true(chi_squared(count, N, (double)DRAWS / N) < 180); /* 99 degrees */
    for (int i = 0; i < 100; i++)
        assert_int_equal(random_below(&rs, 1), 0);
    for (int i = 0; i < 1000; i++)
        assert_true(random_below(&rs, 65536) < 65536);
}

static void shuffle_is_even(void **state)
{
    enum { N = 4, PERMUTATIONS = 24, ROUNDS = 48000 };
    struct random_stream rs;
    unsigned count[256] = {0}, packed[PERMUTATIONS], n_kinds = 0;
    (void)state;
    seed_with(&rs, 5);
    for (int round = 0; round < ROUNDS; round++) {
        void *p[N];
        unsigned key = 0;
        for (uintptr_t i = 0; i < N; i++)
            p[i] = (void *)i;
        random_shuffle(&rs, p, N, sizeof *p);
        for (int i = 0; i < N; i++)
            key = key << 2 | (unsigned)(uintptr_t)p[i];
        count[key]++;
    }
    for (int key = 0; key < 256; key++)
        if (count[key] != 0) {
            assert_true(n_kinds < PERMUTATIONS);
            packed[n_kinds++] = count[key];
        }
    assert_int_equal(n_kinds, PERMUTATIONS);
    assert_true(chi_squared(packed, PERMUTATIONS, (double)ROUNDS / PERMUTATIONS) < 72); /* 23 degrees */
}

static void shuffle_keeps_everything(void **state)
{
    static void *p[8192];
    static bool seen[8192];
    struct random_stream rs;
    size_t n_moved = 0;
    (void)state;
    seed_with(&rs, 6);
    random_shuffle(&rs, p, 0, sizeof *p);
    for (uintptr_t i = 0; i < 8192; i++)
        p[i] = (void *)i;
    random_shuffle(&rs, p, 8192, sizeof *p);
    for (size_t i = 0; i < 8192; i++) {
        assert_false(seen[(uintptr_t)p[i]]);
        seen[(uintptr_t)p[i]] = true;
        n_moved += (uintptr_t)p[i] != i;
    }
    assert_true(n_moved > 8000);
}

static bool source_works;

static bool source(void *p, size_t bytes)
{
    memset(p, 0xab, bytes);
    return source_works;
}

static void source_of_the_caller(void **state)
{
    struct random_stream rs;
    (void)state;
    seed_with(&rs, 0);
    rs.rs_source = source;
    source_works = true;
    assert_int_equal(random_u16(&rs), 0xabab);
    source_works = false;
    random_refill(&rs);
    assert_memory_equal(rs.rs_block, block0, sizeof block0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_block_is_chacha8), cmocka_unit_test(same_seed_same_numbers),
        cmocka_unit_test(key_is_erased),          cmocka_unit_test(below_is_even),
        cmocka_unit_test(shuffle_is_even),        cmocka_unit_test(shuffle_keeps_everything),
        cmocka_unit_test(source_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
