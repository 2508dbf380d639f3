/* SPDX-License-Identifier: MIT */
/* Case 12: calloc of fresh large memory must not write it; calloc of used memory must.
 * The second half at length is tests/conformance/calloc_zero.c. */
#include <stdlib.h>
#include <string.h>

#include "known_check.h"
#include "stamp.h"
#include "testkit.h"

static void used(void *unused)
{
    (void)unused;
    for (size_t n = 64; n <= 8u << 20; n += n / 2) {
        for (int round = 0; round < 3; round++) {
            unsigned char *p = malloc(n);
            size_t bad;

            memset(p, 0xaa, n);
            free(p);
            p = calloc(1, n);
            bad = stamp_first_nonzero(p, n);
            tk_check(bad == n, "calloc(%zu): byte %zu is %#x", n, bad, bad < n ? p[bad] : 0u);
            memset(p, 0xaa, n);
            free(p);
        }
    }
    tk_note("reused memory is zero");
}

int main(int argc, char **argv)
{
    tk_init("kf12", "calloc of large memory", argc, argv);
    tk_known(KNOWN_CALLOC, 60);
    tk_child("used", used, NULL, 60);
    return tk_finish();
}
