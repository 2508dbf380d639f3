/* SPDX-License-Identifier: MIT */
/* Case 22: the rules for the arguments of posix_memalign(), and glibc's for its relatives. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "testkit.h"

static void *const untouched = (void *)0x1234;

static void expect(size_t align, size_t bytes, int want)
{
    void *p = untouched;
    int got = posix_memalign(&p, tk_opaque(align), tk_opaque(bytes));

    tk_check(got == want, "posix_memalign(%#zx, %#zx) returned %d, not %d", align, bytes, got,
             want);
    if (got != 0) {
        tk_check(p == untouched, "posix_memalign(%#zx, %#zx) failed and wrote %p", align, bytes, p);
        return;
    }
    tk_check(p != NULL && (uintptr_t)p % align == 0, "posix_memalign(%#zx, %#zx) gave %p", align,
             bytes, p);
    free(p);
}

static void rounds_up(size_t align)
{
    size_t power = 16;
    void *p;

    while (power < align)
        power *= 2;
    errno = 77;
    p = memalign(tk_opaque(align), 100);
    tk_check(p != NULL && (uintptr_t)p % power == 0 && errno == 77,
             "memalign(%zu, 100): %p, errno %d", align, p, errno);
    free(p);
    p = aligned_alloc(tk_opaque(align), 100);
    tk_check(p != NULL && (uintptr_t)p % power == 0, "aligned_alloc(%zu, 100): %p", align, p);
    free(p);
}

static void rules(void *unused)
{
    static const size_t bad[] = {0, 1, 2, 3, 4, 6, 7, 12, 24, 48, 100, 4095, SIZE_MAX};
    static const size_t odd[] = {0, 1, 3, 7, 12, 24, 48, 100};

    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        /* 8 and 16 are missing here and good below. */
        expect(bad[i], 100, EINVAL);
        expect(bad[i], 0, EINVAL);
    }
    for (unsigned k = 3; k <= 30; k++) {
        expect((size_t)1 << k, 100, 0);
        expect((size_t)1 << k, 0, 0);
        expect((size_t)1 << k, SIZE_MAX - 4096, ENOMEM);
        expect((size_t)1 << k, (size_t)PTRDIFF_MAX + 1, ENOMEM);
    }
    expect((size_t)1 << 62, 100, ENOMEM);
    expect((size_t)1 << 63, 100, ENOMEM);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        rounds_up(odd[i]);
    tk_note("rules of posix_memalign hold, memalign rounds up");
}

int main(int argc, char **argv)
{
    tk_init("kf22", "posix_memalign", argc, argv);
    tk_child("rules", rules, NULL, 60);
    return tk_finish();
}
