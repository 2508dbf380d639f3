/* SPDX-License-Identifier: MIT */
/* Owns libslub-control.so: a malloc and a free that do nothing. What they take is the cost of the
 * call.
 *
 * malloc answers the same block every time, one per thread so that threads do not fight for its
 * cache line, and free returns at once. There is no branch, so only a program that knows it may run
 * under this library: the bench worker, which touches the first byte of a block and keeps nothing
 * in it. What a process needs to start and to make threads (calloc, realloc, aligned blocks) comes
 * from memory that only grows.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CONTROL_API __attribute__((visibility("default")))
#define BLOCK_BYTES 4096u
#define CHUNK_BYTES ((size_t)1 << 20)

/* Before every block from growing memory; 16 bytes keep the block's alignment. */
struct block_head {
    _Alignas(16) size_t bytes;
};

static _Thread_local _Alignas(128) char block[BLOCK_BYTES];
static atomic_flag grow_lock = ATOMIC_FLAG_INIT;
static char *grow_next; /* [grow_lock] */
static char *grow_end;  /* [grow_lock] */

static void *grow_locked(size_t align, size_t bytes)
{
    const uintptr_t from = (uintptr_t)grow_next + sizeof(struct block_head);
    uintptr_t at = (from + align - 1) & ~(uintptr_t)(align - 1);
    if (grow_next == NULL || at + bytes > (uintptr_t)grow_end) {
        const size_t need = bytes + align + sizeof(struct block_head);
        const size_t chunk = need > CHUNK_BYTES ? need : CHUNK_BYTES;
        char *p = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return NULL;
        grow_end = p + chunk;
        at = ((uintptr_t)p + sizeof(struct block_head) + align - 1) & ~(uintptr_t)(align - 1);
    }
    ((struct block_head *)at - 1)->bytes = bytes;
    grow_next = (char *)at + bytes;
    return (void *)at;
}

static void *grow(size_t align, size_t bytes)
{
    if (align < 16)
        align = 16;
    if (bytes > PTRDIFF_MAX - 2 * align || (align & (align - 1)) != 0) {
        errno = ENOMEM;
        return NULL;
    }
    while (atomic_flag_test_and_set_explicit(&grow_lock, memory_order_acquire))
        ;
    void *p = grow_locked(align, bytes);
    atomic_flag_clear_explicit(&grow_lock, memory_order_release);
    if (p == NULL)
        errno = ENOMEM;
    return p;
}

CONTROL_API void *malloc(size_t size)
{
    (void)size;
    return block;
}

CONTROL_API void free(void *p)
{
    (void)p;
}

/* Fresh pages are zero and no memory comes back. */
CONTROL_API void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return grow(16, bytes);
}

CONTROL_API size_t malloc_usable_size(void *p);
CONTROL_API size_t malloc_usable_size(void *p)
{
    if (p == NULL)
        return 0;
    return p == block ? BLOCK_BYTES : ((struct block_head *)p - 1)->bytes;
}

CONTROL_API void *realloc(void *p, size_t size)
{
    void *moved = grow(16, size);
    if (moved != NULL && p != NULL) {
        const size_t old = malloc_usable_size(p);
        memcpy(moved, p, old < size ? old : size);
    }
    return moved;
}

CONTROL_API void *aligned_alloc(size_t align, size_t size)
{
    return grow(align, size);
}

CONTROL_API void *memalign(size_t align, size_t size);
CONTROL_API void *memalign(size_t align, size_t size)
{
    return grow(align, size);
}

CONTROL_API int posix_memalign(void **out, size_t align, size_t size)
{
    void *p = grow(align, size);
    if (p == NULL)
        return ENOMEM;
    *out = p;
    return 0;
}
