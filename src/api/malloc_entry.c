/* SPDX-License-Identifier: MIT */
/* The malloc family of C and POSIX and glibc's own additions. Part of the malloc libraries only. Layer: L8.
 *
 * Answers are glibc 2.36's where the standards leave a choice: malloc(0) is a block, realloc(p, 0) frees,
 * memalign rounds odd alignments up to a power of two, sizes over PTRDIFF_MAX fail. errno is set on failure and
 * kept otherwise. */
#include "api/malloc_family.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "api/alloc.h"
#include "cache/init.h"
#include "os/os.h"
#include "slub/stats.h"

#define EXPORT __attribute__((visibility("default")))

static void *fail(int error)
{
    errno = error;
    return NULL;
}

/* For tools that look at the process from outside. */
static __attribute__((constructor(101))) void own_malloc(void) { slub_root.malloc_owner = 1; }

void *slub_malloc_slow(size_t size);

void *slub_malloc_slow(size_t size) { return alloc_by_size(size); }

#if !SLUB_ASM
EXPORT void *malloc(size_t size) { return slub_malloc_slow(size); }
EXPORT void free(void *p) { slub_free_slow(p); }
EXPORT void cfree(void *p) { slub_free_slow(p); }
EXPORT void free_sized(void *p, size_t size) { (void)size, slub_free_slow(p); }
EXPORT void free_aligned_sized(void *p, size_t align, size_t size) { (void)align, (void)size, slub_free_slow(p); }
#endif

EXPORT void *calloc(size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? fail(ENOMEM) : alloc_zeroed(bytes);
}

EXPORT void *realloc(void *p, size_t size)
{
    if (p == NULL)
        return malloc(size);
    if (size == 0) {
        free_by_address(p, "realloc");
        return NULL;
    }
    return alloc_resize(p, size, "realloc");
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? fail(ENOMEM) : realloc(p, bytes);
}

/* glibc's rule for the calls that do not check: up to the next power of two, EINVAL beyond the largest. */
static void *aligned(size_t align, size_t size)
{
    if (align > SIZE_MAX / 2 + 1)
        return fail(EINVAL);
    if (!is_pow2(align))
        align = align == 0 ? 1 : (size_t)1 << (log2_floor(align) + 1);
    return alloc_aligned(align, size);
}

EXPORT void *memalign(size_t align, size_t size) { return aligned(align, size); }
EXPORT void *aligned_alloc(size_t align, size_t size) { return aligned(align, size); }

EXPORT void *__libc_memalign(size_t align, size_t size) { return aligned(align, size); }

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    if (!is_pow2(align) || align % sizeof(void *) != 0)
        return EINVAL;
    void *p = alloc_aligned(align, size);
    if (p == NULL)
        return ENOMEM; /* errno is set as well, as glibc does */
    *out = p;
    return 0;
}

EXPORT void *valloc(size_t size) { return alloc_aligned(os_page_size(), size); }

EXPORT void *pvalloc(size_t size)
{
    size_t page = os_page_size();
    if (size > PTRDIFF_MAX - page)
        return fail(ENOMEM);
    return alloc_aligned(page, round_up(size, page));
}

EXPORT size_t malloc_usable_size(void *p) { return alloc_usable(p, "malloc_usable_size"); }

EXPORT int malloc_trim(size_t pad)
{
    (void)pad;
    if (!init_ready())
        return 0;
    init_trim();
    return 1;
}

/* Every setting of glibc's is about arenas and thresholds that do not exist here; glibc answers 1 even to
 * numbers that it does not know. */
EXPORT int mallopt(int param, int value)
{
    (void)param;
    (void)value;
    return 1;
}
