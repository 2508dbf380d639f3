/* SPDX-License-Identifier: MIT */
/* Case 20: malloc_usable_size() says what may be used: all of it, always the same, and kept by
 * realloc. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "stamp.h"
#include "testkit.h"

int kf20_fortified_copies(const char *from, size_t most);

/* Takes over p. */
static void contract(void *p, size_t bytes, size_t align, const char *call)
{
    size_t u = malloc_usable_size(p), bad;
    char *q;

    if (!tk_check(p != NULL && u >= bytes && (uintptr_t)p % align == 0,
                  "%s(%zu) aligned %zu: %p, usable %zu", call, bytes, align, p, u))
        return;
    stamp_fill(p, u, bytes + 1);
    tk_check(malloc_usable_size(p) == u, "%s(%zu): usable size changed", call, bytes);
    q = realloc(p, u + 1);
    if (!tk_check(q != NULL, "realloc to %zu", u + 1))
        return;
    bad = stamp_first_bad(q, u / 8 * 8, bytes + 1);
    tk_check(bad == u / 8 * 8, "%s(%zu): realloc lost byte %zu of %zu", call, bytes, bad, u);
    tk_check(malloc_usable_size(q) >= u + 1, "usable size after realloc to %zu: %zu", u + 1,
             malloc_usable_size(q));
    free(q);
}

static void all_sizes(void *unused)
{
    size_t step = tk_count(13, 1), n = 0;

    (void)unused;
    for (size_t bytes = 0; bytes <= 70000; bytes += bytes < 2100 ? 1 : step) {
        contract(malloc(bytes), bytes, bytes < 16 ? 8 : 16, "malloc");
        if (bytes % 5 == 0)
            contract(memalign((size_t)16 << (bytes / 5 % 9), bytes), bytes,
                     (size_t)16 << (bytes / 5 % 9), "memalign");
        n++;
    }
    tk_note("%zu sizes", n);
}

static void zeroed(void *unused)
{
    (void)unused;
    for (size_t bytes = 1; bytes <= 300000; bytes += 1 + bytes / 8) {
        for (int i = 0; i < 20; i++) {
            unsigned char *p = malloc(bytes);

            memset(p, 0xaa, malloc_usable_size(p));
            free(p);
        }
        for (int i = 0; i < 20; i++) {
            unsigned char *p = calloc(1, bytes);
            size_t u = malloc_usable_size(p), bad = stamp_first_nonzero(p, u);

            tk_check(bad == u, "calloc(%zu): byte %zu of %zu is not zero", bytes, bad, u);
            memset(p, 0xaa, u);
            free(p);
        }
    }
    tk_note("calloc clears all that is usable");
}

static void fortified(void *unused)
{
    static char from[100000];

    (void)unused;
    memset(from, 'f', sizeof from);
    tk_check(kf20_fortified_copies(from, sizeof from) == 0, "a fortified copy is wrong");
}

int main(int argc, char **argv)
{
    tk_init("kf20", "usable size", argc, argv);
    errno = 77;
    tk_check(malloc_usable_size(NULL) == 0 && errno == 77, "usable size of NULL: %zu, errno %d",
             malloc_usable_size(NULL), errno);
    tk_child("all sizes", all_sizes, NULL, 120);
    tk_child("zeroed", zeroed, NULL, 60);
    if (tk_child("fortified", fortified, NULL, 60))
        tk_note("fortified copies fine");
    return tk_finish();
}
