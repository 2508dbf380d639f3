/* SPDX-License-Identifier: MIT */
/* Options of a program's own: set before the first allocation, for runs that can be repeated
 * exactly. */
#include <slub/slub.h>

#include <stdio.h>

int main(void)
{
    enum { N = 32 };
    char *p[N];
    int n_ascending = 0;

    if (slub_options_set("slab_freelist_random=0") != 0)
        return 1;
    for (int i = 0; i < N; i++)
        p[i] = slub_alloc(256, 0);
    for (int i = 1; i < N; i++)
        n_ascending += p[i] == p[i - 1] + 256;
    printf("%d of %d blocks follow their neighbour\n", n_ascending, N - 1);
    for (int i = 0; i < N; i++)
        slub_free(p[i]);
    return n_ascending < N / 2;
}
