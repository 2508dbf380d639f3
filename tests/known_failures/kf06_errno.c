/* SPDX-License-Identifier: MIT */
/* Case 6: every entry point sets ENOMEM when it fails, whichever way it fails: an impossible size,
 * a product that overflows, or a size that only the system refuses. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "testkit.h"

enum { OLD_BYTES = 100 };
static char *old; /* what realloc must leave alone */

static void *by_malloc(size_t n)
{
    return malloc(n);
}
static void *by_calloc(size_t n)
{
    return calloc(1, n);
}
static void *by_calloc_product(size_t n)
{
    return calloc(n / 2 + 1, 2);
}
static void *by_realloc_null(size_t n)
{
    return realloc(NULL, n);
}
static void *by_realloc(size_t n)
{
    return realloc(old, n);
}
static void *by_reallocarray(size_t n)
{
    return reallocarray(old, n / 2 + 1, 2);
}
static void *by_aligned_alloc(size_t n)
{
    return aligned_alloc(64, n);
}
static void *by_memalign(size_t n)
{
    return memalign(4096, n);
}
static void *by_valloc(size_t n)
{
    return valloc(n);
}
static void *by_pvalloc(size_t n)
{
    return pvalloc(n);
}

static void *by_posix_memalign(size_t n)
{
    void *const untouched = (void *)0x1234;
    void *p = untouched;
    int err = posix_memalign(&p, 4096, n);

    if (err == 0)
        return p;
    tk_check(err == ENOMEM, "posix_memalign(%#zx) returned %d", n, err);
    tk_check(p == untouched, "posix_memalign(%#zx) wrote %p", n, p);
    /* POSIX leaves errno open; the others are judged by it. */
    errno = ENOMEM;
    return NULL;
}

static const struct {
    const char *name;
    void *(*call)(size_t);
} calls[] = {
    {"malloc", by_malloc},
    {"calloc", by_calloc},
    {"calloc of a product", by_calloc_product},
    {"realloc(NULL)", by_realloc_null},
    {"realloc", by_realloc},
    {"reallocarray", by_reallocarray},
    {"aligned_alloc", by_aligned_alloc},
    {"memalign", by_memalign},
    {"valloc", by_valloc},
    {"pvalloc", by_pvalloc},
    {"posix_memalign", by_posix_memalign},
};

static unsigned n_tried;

static void expect_enomem(size_t n)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        void *p;
        int err;

        errno = 77;
        p = calls[i].call(tk_opaque(n));
        err = errno;
        n_tried++;
        tk_check(p == NULL, "%s of %#zx bytes succeeded", calls[i].name, n);
        tk_check(err == ENOMEM, "%s of %#zx bytes: errno %d", calls[i].name, n, err);
        if (p != NULL && p != old)
            free(p);
    }
    for (int i = 0; i < OLD_BYTES; i++)
        if (!tk_check(old[i] == 'o', "a failed call changed the old block"))
            break;
}

static void make_old(void)
{
    old = malloc(OLD_BYTES);
    memset(old, 'o', OLD_BYTES);
}

static void impossible(void *unused)
{
    (void)unused;
    make_old();
    expect_enomem(SIZE_MAX);
    expect_enomem(SIZE_MAX - 100);
    expect_enomem(SIZE_MAX - 4096);
    expect_enomem((size_t)PTRDIFF_MAX + 1);
    expect_enomem((size_t)PTRDIFF_MAX);
    expect_enomem(SIZE_MAX / 4);
    tk_note("%u impossible requests", n_tried);
}

/* Run again by the limited program: 4 GiB and more do not fit, what is there stays usable. An
 * allocator may have reserved address space before a limit is set, so the limit comes before the
 * start. */
static void limited(void)
{
    make_old();
    expect_enomem((size_t)1 << 32);
    expect_enomem((size_t)1 << 40);
}

static void set_limit(void *unused)
{
    struct rlimit limit = {.rlim_cur = 1u << 30, .rlim_max = 1u << 30};

    (void)unused;
    setrlimit(RLIMIT_AS, &limit);
}

static void refused_by_the_system(void)
{
    const char *const again[] = {tk_self(), "limited", NULL};
    struct tk_exec e = {.argv = again, .before = set_limit, .limit_s = 30};

    tk_run(&e);
    tk_check(e.status == 0, "under RLIMIT_AS: %s: %s", tk_status_text(e.status), e.out);
    tk_note("refused by the system: %s", e.status == 0 ? "ENOMEM everywhere" : "wrong");
}

int main(int argc, char **argv)
{
    tk_init("kf06", "errno on failure", argc, argv);
    if (argc > 1 && strcmp(argv[1], "limited") == 0) {
        limited();
        return tk_failed();
    }
    tk_child("impossible sizes", impossible, NULL, 60);
    refused_by_the_system();
    return tk_finish();
}
