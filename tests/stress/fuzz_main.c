/* SPDX-License-Identifier: MIT */
/* Runs the fuzzing harness without libFuzzer: over the files that are named, or over random input
 * for SLUB_TEST_SECONDS (default 5). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "rng.h"
#include "testkit.h"

enum { MOST_INPUT = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int from_file(const char *path, uint8_t *input)
{
    FILE *f = fopen(path, "rb");
    size_t n;

    if (f == NULL) {
        perror(path);
        return 1;
    }
    n = fread(input, 1, MOST_INPUT, f);
    fclose(f);
    return LLVMFuzzerTestOneInput(input, n);
}

int main(int argc, char **argv)
{
    uint8_t *input =
        mmap(NULL, MOST_INPUT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const char *seconds = getenv("SLUB_TEST_SECONDS"), *seed = getenv("SLUB_TEST_SEED");
    double end = tk_now() + (seconds != NULL ? strtod(seconds, NULL) : 5);
    struct rng r = {.s = seed != NULL ? strtoull(seed, NULL, 0) : (uint64_t)(tk_now() * 1e9)};
    unsigned long n = 0;

    if (argc > 1) {
        for (int i = 1; i < argc; i++)
            if (from_file(argv[i], input) != 0)
                return 1;
        return 0;
    }
    printf("fuzz_calls: SLUB_TEST_SEED=%llu\n", (unsigned long long)r.s);
    fflush(stdout);
    for (; tk_now() < end; n++) {
        size_t bytes = rng_size(&r, 4, 16384);

        for (size_t i = 0; i < bytes; i++)
            input[i] = (uint8_t)rng_next(&r);
        LLVMFuzzerTestOneInput(input, bytes);
    }
    printf("fuzz_calls: %lu random inputs\n", n);
    return 0;
}
