/* SPDX-License-Identifier: MIT */
/* Rows F16 (errno) and O9 (impossible requests) of the scorecard. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "misuse.h"

enum { EXIT_WRONG_ANSWER = 14 };

/* ---- F16
 * ------------------------------------------------------------------------------------------ */

static void keeps_errno(size_t bytes)
{
    static const int values[] = {0, EINTR, ENOMEM, 12345, -1};
    static char stranger[64];

    misuse_expect("none", NULL, 0);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        void *blocks[] = {malloc(bytes), malloc(bytes * 64), malloc(32u << 20), NULL,
                          hide(stranger + 16)};

        for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++) {
            errno = values[i];
            free(blocks[k]);
            if (errno != values[i])
                _exit(EXIT_WRONG_ANSWER);
        }
    }
}

/* ---- O9
 * ------------------------------------------------------------------------------------------- */

static void must_fail(void *p, int want)
{
    if (p != NULL || errno != want)
        _exit(EXIT_WRONG_ANSWER);
    errno = 0;
}

static void impossible(size_t bytes)
{
    void *p = NULL;

    misuse_expect("none", NULL, 0);
    errno = 0;
    must_fail(malloc(tk_opaque((size_t)-2)), ENOMEM);
    must_fail(malloc(tk_opaque((size_t)PTRDIFF_MAX + 1)), ENOMEM);
    must_fail(calloc(tk_opaque(SIZE_MAX), 2), ENOMEM);
    must_fail(reallocarray(malloc(bytes), tk_opaque(SIZE_MAX / 2), 3), ENOMEM);
    must_fail(memalign(4096, tk_opaque(SIZE_MAX - 100)), ENOMEM);
    if (posix_memalign(&p, tk_opaque(24), bytes) != EINVAL || p != NULL)
        _exit(EXIT_WRONG_ANSWER);
}

const struct misuse misuse_other[] = {
    {"keeps-errno", keeps_errno},
    {"impossible", impossible},
    {NULL, NULL},
};
