/* SPDX-License-Identifier: MIT */
/* Sequences of calls from bytes, for libFuzzer: every four bytes are one call of the malloc family
 * on one of 64 slots. Contents are stamped and checked; a broken rule aborts. Other compilers get
 * fuzz_main.c as their main. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stamp.h"

enum { N_SLOTS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct slot {
    char *p;
    size_t bytes;
    uint64_t id;
};

static void require(int ok, const char *rule)
{
    if (ok)
        return;
    fprintf(stderr, "fuzz_calls: %s\n", rule);
    abort();
}

/* Mostly up to 4 KiB; the last thousand of 16 bits reach 256 KiB. */
static size_t size_of(unsigned v)
{
    return v < 0xfc00 ? v & 0x0fff : (size_t)(v - 0xfc00) * 256;
}

static void check(const struct slot *s)
{
    require(stamp_first_bad(s->p, s->bytes, s->id) == s->bytes, "contents changed");
}

static void keep(struct slot *s, void *p, size_t bytes, uint64_t id)
{
    size_t usable = malloc_usable_size(p);

    *s = (struct slot){p, usable, id};
    if (p == NULL) {
        s->bytes = 0;
        return;
    }
    require(usable >= bytes, "usable size below the request");
    stamp_fill(p, usable, id);
}

static void drop(struct slot *s)
{
    if (s->p != NULL)
        check(s);
    free(s->p);
    s->p = NULL;
}

static void resize(struct slot *s, size_t bytes, uint64_t id)
{
    size_t kept = bytes < s->bytes ? bytes : s->bytes;
    char *p = s->p;

    if (p != NULL)
        check(s);
    p = realloc(p, bytes);
    if (bytes == 0 && s->p != NULL) {
        require(p == NULL, "realloc to 0 gave a block");
        s->p = NULL;
        return;
    }
    if (p == NULL)
        return;
    if (s->p != NULL)
        require(stamp_first_bad(p, kept / 8 * 8, s->id) == kept / 8 * 8, "realloc lost a byte");
    keep(s, p, bytes, id);
}

static void call(struct slot *slots, const uint8_t *d, uint64_t id)
{
    struct slot *s = &slots[d[0] % N_SLOTS];
    size_t bytes = size_of((unsigned)d[2] << 8 | d[3]);
    size_t align = (size_t)1 << (d[1] / 16 + 3);
    void *p = NULL;

    switch (d[1] % 9) {
    case 0:
    case 1:
        drop(s);
        keep(s, malloc(bytes), bytes, id);
        break;
    case 2:
        drop(s);
        p = calloc(bytes / 16 + 1, 16);
        require(p == NULL || stamp_first_nonzero(p, bytes) == bytes, "calloc is not zero");
        keep(s, p, bytes, id);
        break;
    case 3:
        resize(s, bytes, id);
        break;
    case 4:
        drop(s);
        require(posix_memalign(&p, align, bytes) != 0 || (uintptr_t)p % align == 0, "misaligned");
        keep(s, p, bytes, id);
        break;
    case 5:
        drop(s);
        p = memalign(align, bytes);
        require((uintptr_t)p % align == 0, "misaligned");
        keep(s, p, bytes, id);
        break;
    case 6:
        if (d[2] == 0)
            malloc_trim(0);
        else if (s->p != NULL)
            check(s);
        break;
    default:
        drop(s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slot slots[N_SLOTS] = {{0}};

    for (size_t i = 0; i + 4 <= size; i += 4)
        call(slots, data + i, i + 1);
    for (int i = 0; i < N_SLOTS; i++)
        drop(&slots[i]);
    return 0;
}
