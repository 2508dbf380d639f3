/* SPDX-License-Identifier: MIT */
/* What glibc 2.36 answers, row by row: every call of the malloc family at its edges, result and
 * errno. A drop-in answers the same. errno is 77 before each call, so that a call that leaves it
 * alone shows. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testkit.h"

enum { KEPT = 77 };

static unsigned n_rows;

/* One row: the call gave NULL or not, and errno after it. Returns the block, for more questions. */
static void *row(const char *call, void *got, int err, bool want_block, int want_errno)
{
    n_rows++;
    tk_check((got != NULL) == want_block, "%s gave %p", call, got);
    tk_check(err == want_errno, "%s: errno %d, not %d", call, err, want_errno);
    return got;
}

#define ROW(call, want_block, want_errno)               \
    ({                                                  \
        errno = KEPT;                                   \
        void *got_ = (call);                            \
        int err_ = errno;                               \
        row(#call, got_, err_, want_block, want_errno); \
    })

#define NUMBER(call, want, want_errno)                                                     \
    do {                                                                                   \
        errno = KEPT;                                                                      \
        long number_ = (long)(call);                                                       \
        int err_ = errno;                                                                  \
        n_rows++;                                                                          \
        tk_check(number_ == (want), "%s gave %ld, not %ld", #call, number_, (long)(want)); \
        tk_check(err_ == (want_errno), "%s: errno %d, not %d", #call, err_, want_errno);   \
    } while (0)

static void too_large(void)
{
    const size_t most = tk_opaque(SIZE_MAX), half = tk_opaque(PTRDIFF_MAX);
    /* volatile: a failed realloc keeps the block, which the compiler does not believe. */
    char *volatile old = malloc(100);

    memset(old, 'o', 100);
    ROW(malloc(half + 1), false, ENOMEM);
    ROW(malloc(most), false, ENOMEM);
    ROW(calloc(most / 2 + 1, 2), false, ENOMEM);
    ROW(reallocarray(NULL, most / 2 + 1, 2), false, ENOMEM);
    ROW(reallocarray(old, most / 2 + 1, 2), false, ENOMEM);
    ROW(realloc(old, most - 100), false, ENOMEM);
    ROW(memalign(4096, most - 4096), false, ENOMEM);
    ROW(aligned_alloc(4096, most - 4096), false, ENOMEM);
    ROW(valloc(most - 1), false, ENOMEM);
    ROW(pvalloc(most - 1), false, ENOMEM);
    for (int i = 0; i < 100; i++)
        if (!tk_check(old[i] == 'o', "a failed call changed the old block"))
            break;
    free(old);
}

static void nothing_wanted(void)
{
    const size_t none = tk_opaque(0);
    void *blocks[5];

    blocks[0] = ROW(calloc(tk_opaque(SIZE_MAX), none), true, KEPT);
    blocks[1] = ROW(malloc(none), true, KEPT);
    blocks[2] = ROW(malloc(none), true, KEPT);
    blocks[3] = ROW(realloc(NULL, none), true, KEPT);
    blocks[4] = ROW(reallocarray(NULL, none, 16), true, KEPT);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < i; k++)
            tk_check(blocks[i] != blocks[k], "two empty blocks are one");
        /* All that is said to be usable is. */
        memset(blocks[i], 1, malloc_usable_size(blocks[i]));
    }
    for (int i = 1; i < 5; i++)
        free(blocks[i]);
    ROW(realloc(blocks[0], none), false, KEPT);
}

static void posix_memalign_rows(void)
{
    static const size_t bad[] = {0, 1, 2, 3, 4, 7, 24, 48, 100, SIZE_MAX};
    static const size_t huge[] = {(size_t)1 << 40, (size_t)1 << 62, (size_t)1 << 63};
    void *const preset = (void *)0x1234;
    void *p = preset;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        NUMBER(posix_memalign(&p, tk_opaque(bad[i]), 100), EINVAL, KEPT);
        tk_check(p == preset, "posix_memalign(%#zx) wrote %p", bad[i], p);
        p = preset;
    }
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        NUMBER(posix_memalign(&p, tk_opaque(huge[i]), 100), ENOMEM, ENOMEM);
        tk_check(p == preset, "posix_memalign(%#zx) wrote %p", huge[i], p);
        p = preset;
    }
    NUMBER(posix_memalign(&p, 8, 100), 0, KEPT);
    free(p);
}

static void odd_alignments(void)
{
    for (size_t align = 0; align <= 100; align++) {
        size_t power = 1;
        void *p;

        while (power < align)
            power *= 2;
        p = ROW(memalign(tk_opaque(align), 40), true, KEPT);
        tk_check((uintptr_t)p % power == 0, "memalign(%zu) gave %p", align, p);
        free(p);
        p = ROW(aligned_alloc(tk_opaque(align), 40), true, KEPT);
        tk_check((uintptr_t)p % power == 0, "aligned_alloc(%zu) gave %p", align, p);
        free(p);
    }
    ROW(memalign(tk_opaque(SIZE_MAX), 40), false, EINVAL);
    ROW(aligned_alloc(tk_opaque(SIZE_MAX), 40), false, EINVAL);
    free(ROW(aligned_alloc(64, tk_opaque(100)), true, KEPT));
    free(ROW(aligned_alloc(64, tk_opaque(0)), true, KEPT));
}

static void page_rows(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *p = ROW(pvalloc(1), true, KEPT);

    tk_check((uintptr_t)p % page == 0 && malloc_usable_size(p) >= page,
             "pvalloc(1): %p, usable %zu", p, malloc_usable_size(p));
    free(p);
    free(ROW(pvalloc(tk_opaque(0)), true, KEPT));
    p = ROW(valloc(1), true, KEPT);
    tk_check((uintptr_t)p % page == 0, "valloc(1) gave %p", p);
    free(p);
}

static void kept_errno(void)
{
    char *p = malloc(64u << 20);

    p[1000] = 'k';
    errno = KEPT;
    free(NULL);
    tk_check(errno == KEPT, "free(NULL): errno %d", errno);
    p = ROW(realloc(p, 256u << 20), true, KEPT);
    tk_check(p[1000] == 'k', "realloc lost a byte");
    p = ROW(realloc(p, 1000), true, KEPT);
    p = ROW(realloc(p, 64u << 20), true, KEPT);
    errno = KEPT;
    free(p);
    tk_check(errno == KEPT, "free of 64 MiB: errno %d", errno);
    for (size_t n = 1; n < 1u << 20; n += 1 + n / 3) {
        p = ROW(malloc(n), true, KEPT);
        errno = KEPT;
        free(p);
        tk_check(errno == KEPT, "free of %zu: errno %d", n, errno);
    }
    NUMBER(malloc_usable_size(NULL), 0, KEPT);
}

static void controls(void)
{
    FILE *f = fopen("/dev/null", "w");

    /* Something to give back; a heap that never gave anything may answer 0. */
    free(memset(malloc(1u << 20), 1, 1u << 20));
    NUMBER(malloc_trim(0), 1, KEPT);
    NUMBER(mallopt(M_ARENA_MAX, 1), 1, KEPT);
    NUMBER(mallopt(9999, 1), 1, KEPT);
    NUMBER(malloc_info(1, f), EINVAL, KEPT);
    fclose(f);
}

static void all_rows(void *unused)
{
    (void)unused;
    too_large();
    nothing_wanted();
    posix_memalign_rows();
    odd_alignments();
    page_rows();
    kept_errno();
    controls();
    tk_note("%u rows", n_rows);
}

int main(int argc, char **argv)
{
    tk_init("glibc_answers", "as glibc 2.36", argc, argv);
    tk_child("rows", all_rows, NULL, 60);
    return tk_finish();
}
