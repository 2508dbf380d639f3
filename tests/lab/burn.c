/* SPDX-License-Identifier: MIT */
/* An allocator that is the C library's, but for a delay in each malloc: LAB_BURN steps of a loop. Two of these with
 * other numbers are a planted difference; two with the same are none. */
#include <stddef.h>

void *__libc_malloc(size_t bytes);
void __libc_free(void *p);
void *malloc(size_t bytes);
void free(void *p);

void *malloc(size_t bytes)
{
    for (volatile unsigned i = 0; i < LAB_BURN; i++)
        continue;
    return __libc_malloc(bytes);
}

void free(void *p)
{
    __libc_free(p);
}
