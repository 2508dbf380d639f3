/* SPDX-License-Identifier: MIT */
/* operator new of C++ in C: the throwing, nothrow and aligned forms. The common form and all deletes are the
 * assembly of malloc_entry.S. Part of the malloc libraries only. Layer: L8.
 *
 * The C++ runtime is needed only when memory is out, and then looked up by name: the library depends on libc
 * alone, and a C program never loads libstdc++ because of it. Frames here must let exceptions pass, so the file
 * is compiled with unwind tables, as everything on our CPUs is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "api/alloc.h"
#include "base/check.h"

#define EXPORT __attribute__((visibility("default")))

typedef void handler_fn(void);

/* std::get_new_handler() and the functions that throw std::bad_alloc, of libstdc++ and libc++. */
static handler_fn *new_handler(void)
{
    handler_fn *(*get)(void) = (handler_fn * (*)(void)) dlsym(RTLD_DEFAULT, "_ZSt15get_new_handlerv");
    return get != NULL ? get() : NULL;
}

static void throw_bad_alloc(void)
{
    static const char *const names[] = {"_ZSt17__throw_bad_allocv", "_ZNSt3__117__throw_bad_allocEv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        handler_fn *fn = (handler_fn *)dlsym(RTLD_DEFAULT, names[i]);
        if (fn != NULL)
            fn();
    }
    static const char why[] = "operator new failed and no C++ runtime can throw";
    check_report_line("out of memory", why, sizeof why - 1);
    abort();
}

static void *allocate(size_t size, size_t align)
{
    return align == 0 ? alloc_by_size(size) : alloc_aligned(align, size);
}

SLUB_SLOW static void *allocate_or_throw(size_t size, size_t align)
{
    void *p;
    while ((p = allocate(size, align)) == NULL) {
        handler_fn *handler = new_handler();
        if (handler == NULL)
            throw_bad_alloc();
        handler(); /* frees memory, throws, or ends the program */
    }
    return p;
}

void *slub_new_slow(size_t size);
void *slub_new_slow(size_t size) { return allocate_or_throw(size, 0); }

/* The nothrow forms ask the handler too, and answer NULL when it throws. Catching is not for C: the C++ runtime's own
 * form of the same name calls our throwing one inside a try block, so once memory is out it is the one to ask. */
typedef void *nothrow_fn(size_t size, const void *tag);
typedef void *nothrow_aligned_fn(size_t size, size_t align, const void *tag);

static void *allocate_or_null(size_t size, const void *tag, const char *name)
{
    void *p = allocate(size, 0);
    if (likely(p != NULL))
        return p;
    nothrow_fn *next = (nothrow_fn *)dlsym(RTLD_NEXT, name);
    return next != NULL ? next(size, tag) : NULL;
}

static void *allocate_aligned_or_null(size_t size, size_t align, const void *tag, const char *name)
{
    void *p = allocate(size, align);
    if (likely(p != NULL))
        return p;
    nothrow_aligned_fn *next = (nothrow_aligned_fn *)dlsym(RTLD_NEXT, name);
    return next != NULL ? next(size, align, tag) : NULL;
}

#if !SLUB_ASM
void *_Znwm(size_t size);
void *_Znam(size_t size);
EXPORT void *_Znwm(size_t size) { return slub_new_slow(size); }
EXPORT void *_Znam(size_t size) { return slub_new_slow(size); }
#endif

void *_ZnwmRKSt9nothrow_t(size_t size, const void *tag);
void *_ZnamRKSt9nothrow_t(size_t size, const void *tag);
void *_ZnwmSt11align_val_t(size_t size, size_t align);
void *_ZnamSt11align_val_t(size_t size, size_t align);
void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const void *tag);
void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const void *tag);

EXPORT void *_ZnwmSt11align_val_t(size_t size, size_t align) { return allocate_or_throw(size, align); }
EXPORT void *_ZnamSt11align_val_t(size_t size, size_t align) { return allocate_or_throw(size, align); }

EXPORT void *_ZnwmRKSt9nothrow_t(size_t size, const void *tag)
{
    return allocate_or_null(size, tag, "_ZnwmRKSt9nothrow_t");
}

EXPORT void *_ZnamRKSt9nothrow_t(size_t size, const void *tag)
{
    return allocate_or_null(size, tag, "_ZnamRKSt9nothrow_t");
}

EXPORT void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const void *tag)
{
    return allocate_aligned_or_null(size, align, tag, "_ZnwmSt11align_val_tRKSt9nothrow_t");
}

EXPORT void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const void *tag)
{
    return allocate_aligned_or_null(size, align, tag, "_ZnamSt11align_val_tRKSt9nothrow_t");
}

#if !SLUB_ASM
#define DELETE(name, ...)           \
    void name(void *p __VA_ARGS__); \
    EXPORT void name(void *p __VA_ARGS__) { slub_free_slow(p); }
#define UNUSED __attribute__((unused))
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm, , size_t size UNUSED)
DELETE(_ZdaPvm, , size_t size UNUSED)
DELETE(_ZdlPvRKSt9nothrow_t, , const void *tag UNUSED)
DELETE(_ZdaPvRKSt9nothrow_t, , const void *tag UNUSED)
DELETE(_ZdlPvSt11align_val_t, , size_t align UNUSED)
DELETE(_ZdaPvSt11align_val_t, , size_t align UNUSED)
DELETE(_ZdlPvmSt11align_val_t, , size_t size UNUSED, size_t align UNUSED)
DELETE(_ZdaPvmSt11align_val_t, , size_t size UNUSED, size_t align UNUSED)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, , size_t align UNUSED, const void *tag UNUSED)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, , size_t align UNUSED, const void *tag UNUSED)
#endif
