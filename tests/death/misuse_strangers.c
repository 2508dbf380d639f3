/* SPDX-License-Identifier: MIT */
/* Addresses that are no blocks of ours: row F8 of the scorecard. Default mode leaves them alone. */
#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "misuse.h"

/* The heap must be as it was. */
static void free_stranger(void *p)
{
    misuse_expect("free", p, 0);
    free(hide(p));
    for (size_t i = 0; i < 500; i++)
        free(memset(malloc(1 + 13 * i), 1, 1 + 13 * i));
}

static void on_stack(size_t bytes)
{
    char local[256];

    (void)bytes;
    memset(local, 0, sizeof local);
    free_stranger(local + 16);
}

static void on_alloca(size_t bytes)
{
    free_stranger(memset(alloca(bytes), 0, bytes));
}

static void in_data(size_t bytes)
{
    static char data[64] = "initialised";

    (void)bytes;
    free_stranger(data + 16);
}

/* Looks like a block of an allocator with headers: a size before, a size behind. */
static void in_bss(size_t bytes)
{
    static uint64_t fake[64] __attribute__((aligned(16)));

    (void)bytes;
    fake[1] = 0x41;
    fake[9] = 0x41;
    free_stranger(&fake[2]);
}

static void in_mapping(size_t bytes)
{
    char *p = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    free_stranger(p);
}

static void at_1(size_t bytes)
{
    (void)bytes;
    free_stranger((void *)(uintptr_t)1);
}

static void non_canonical(size_t bytes)
{
    (void)bytes;
    free_stranger((void *)((uintptr_t)0x8123456789ab << 16));
}

/* Inside our range nobody has it; outside it is a stranger's: reported or ignored, never a fault.
 */
static void plus_gib(size_t bytes)
{
    free_stranger((char *)malloc(bytes) + ((size_t)1 << 30));
}

static void minus_gib(size_t bytes)
{
    free_stranger((char *)malloc(bytes) - ((size_t)1 << 30));
}

/* A granule that was given up whole: ours, and empty. */
static void after_trim(size_t bytes)
{
    char *p = malloc(16u << 20);

    free(p);
    free_stranger(p + (8u << 20) + bytes);
}

const struct misuse misuse_strangers[] = {
    {"stack", on_stack},
    {"alloca", on_alloca},
    {"data", in_data},
    {"fake-chunk", in_bss},
    {"mapping", in_mapping},
    {"address-1", at_1},
    {"non-canonical", non_canonical},
    {"plus-gib", plus_gib},
    {"minus-gib", minus_gib},
    {"given-back", after_trim},
    {NULL, NULL},
};
