/* SPDX-License-Identifier: MIT */
/* Built with -O2 -D_FORTIFY_SOURCE=3 and without the flags that hide malloc from the compiler:
 * copies exactly what was asked for, which no fortified copy may object to. */
#include <stdlib.h>
#include <string.h>

int kf20_fortified_copies(const char *from, size_t most);

int kf20_fortified_copies(const char *from, size_t most)
{
    int bad = 0;

    for (size_t n = 1; n <= most; n += 1 + n / 16) {
        char *p = malloc(n), *q;

        if (p == NULL)
            return 1;
        memcpy(p, from, n);
        bad |= memcmp(p, from, n) != 0;
        q = realloc(p, 2 * n);
        if (q == NULL)
            return 1;
        memcpy(q + n, from, n);
        bad |= memcmp(q + n, from, n) != 0;
        free(q);
    }
    return bad;
}
