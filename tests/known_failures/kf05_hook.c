/* SPDX-License-Identifier: MIT */
/* Preloaded beside the malloc under test: wraps what an allocator may call while it initialises,
 * and allocates in every wrapper, as dlsym() does in real hooks. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

extern char **environ;
unsigned long kf05_hook_calls;
static __thread int depth;

/* The real function; NULL while a wrapper is being resolved further up. */
static void *resolve(const char *name)
{
    void *found = NULL;

    kf05_hook_calls++;
    if (depth++ == 0) {
        void *scratch = calloc(1, 40);

        found = dlsym(RTLD_NEXT, name);
        free(scratch);
    }
    depth--;
    return found;
}

/* Return from the real function when there is one. */
#define CALL_REAL(name, ...)                 \
    do {                                     \
        union {                              \
            void *object;                    \
            __typeof__(&name) call;          \
        } real = {.object = resolve(#name)}; \
        if (real.object != NULL)             \
            return real.call(__VA_ARGS__);   \
    } while (0)

static mode_t mode_of(int flags, va_list ap)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    CALL_REAL(open, path, flags, mode);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    CALL_REAL(openat, dir, path, flags, mode);
    return (int)syscall(SYS_openat, dir, path, flags, mode);
}

ssize_t read(int fd, void *buf, size_t n)
{
    CALL_REAL(read, fd, buf, n);
    return syscall(SYS_read, fd, buf, n);
}

ssize_t readlink(const char *path, char *buf, size_t n)
{
    CALL_REAL(readlink, path, buf, n);
    return syscall(SYS_readlinkat, AT_FDCWD, path, buf, n);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    CALL_REAL(mmap, at, n, prot, flags, fd, offset);
    return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, offset);
}

static char *find_variable(const char *name)
{
    size_t n = strlen(name);

    for (char **e = environ; e != NULL && *e != NULL; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

char *getenv(const char *name)
{
    CALL_REAL(getenv, name);
    return find_variable(name);
}

char *secure_getenv(const char *name)
{
    CALL_REAL(secure_getenv, name);
    return find_variable(name);
}

long sysconf(int name)
{
    CALL_REAL(sysconf, name);
    return name == _SC_PAGESIZE ? (long)getauxval(AT_PAGESZ) : 1;
}
