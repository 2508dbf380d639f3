/* SPDX-License-Identifier: MIT */
/* A program that knows nothing of slub but is linked with -lslub-malloc: its malloc is slub's. */
#include <slub/slub.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *text = strdup("any block of the C library's calls");

    if (text == NULL)
        return 1;
    /* Only to show whose block it is. */
    const size_t usable = slub_usable_size(text);
    printf("%zu bytes asked for, %zu usable\n", strlen(text) + 1, usable);
    free(text);
    return usable < 35;
}
