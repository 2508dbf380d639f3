/* SPDX-License-Identifier: MIT */
/* Linked statically with libslub-malloc.a: malloc and the library call must be one allocator. */
#include <slub/slub.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    void *volatile block = malloc(100);
    void *volatile page = aligned_alloc(4096, 4096);
    if (!block || !page || slub_usable_size(block) < 100 || slub_usable_size(page) < 4096)
        return 1;
    free(block);
    slub_free(page);
    printf("slub %s\n", slub_version());
    return 0;
}
