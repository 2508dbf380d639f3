/* SPDX-License-Identifier: MIT */
/* Owns libslub-control-slub.so: a slub_alloc and a slub_free that do nothing, the control of --api
 * slub.
 *
 * Preloaded before libslub.so, it takes these two calls of the bench worker; malloc stays what it
 * is.
 */
#include <stddef.h>

#define CONTROL_API __attribute__((visibility("default")))
#define BLOCK_BYTES 4096u

static _Thread_local _Alignas(128) char block[BLOCK_BYTES];

CONTROL_API void *slub_alloc(size_t size, unsigned flags);
CONTROL_API void slub_free(void *p);

CONTROL_API void *slub_alloc(size_t size, unsigned flags)
{
    (void)size;
    (void)flags;
    return block;
}

CONTROL_API void slub_free(void *p)
{
    (void)p;
}
