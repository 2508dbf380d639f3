/* SPDX-License-Identifier: MIT */
/* Owns the search for files: in the build tree, in an installation wherever it was moved to, and
 * among the system's libraries.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/places.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set by the build: "" where the system has no multiarch directories. */
#ifndef SLUB_MULTIARCH
#define SLUB_MULTIARCH ""
#endif
#ifndef SLUB_INSTALL_LIBDIR
#define SLUB_INSTALL_LIBDIR "lib"
#endif
#ifndef SLUB_INSTALL_LIBEXECDIR
#define SLUB_INSTALL_LIBEXECDIR "libexec"
#endif

/* Directory of the running command, links resolved. */
static int own_dir(char *dir, size_t room)
{
    const ssize_t n = readlink("/proc/self/exe", dir, room - 1);
    if (n <= 0)
        return -ENOENT;
    dir[n] = '\0';
    char *slash = strrchr(dir, '/');
    if (slash == NULL)
        return -ENOENT;
    *slash = '\0';
    return 0;
}

/* The file dir/name when it can be read, links in the directory resolved but not the file's own. */
static int try_file(const char *dir, const char *name, char *path, size_t room)
{
    char real[PATH_MAX];
    if (realpath(dir, real) == NULL)
        return -ENOENT;
    const int n = snprintf(path, room, "%s/%s", real, name);
    if (n < 0 || (size_t)n >= room)
        return -ENAMETOOLONG;
    return access(path, R_OK) == 0 ? 0 : -ENOENT;
}

static int try_under(const char *const *dirs, size_t n_dirs, const char *name, char *path,
                     size_t room)
{
    char base[PATH_MAX];
    if (own_dir(base, sizeof(base)) != 0)
        return -ENOENT;
    for (size_t i = 0; i < n_dirs; i++) {
        char dir[2 * PATH_MAX];
        snprintf(dir, sizeof(dir), "%s/%s", base, dirs[i]);
        if (try_file(dir, name, path, room) == 0)
            return 0;
    }
    snprintf(path, room, "%s/../lib", base);
    return -ENOENT;
}

int places_find_library(const char *name, char *path, size_t room)
{
    static const char *const dirs[] = {"../lib", "../lib/" SLUB_MULTIARCH,
                                       "../" SLUB_INSTALL_LIBDIR};
    const char *chosen = getenv("SLUB_LIBDIR");

    if (chosen != NULL && chosen[0] != '\0') {
        const int err = try_file(chosen, name, path, room);
        if (err != 0)
            snprintf(path, room, "%s", chosen);
        return err;
    }
    return try_under(dirs, sizeof(dirs) / sizeof(dirs[0]), name, path, room);
}

int places_find_helper(const char *name, char *path, size_t room)
{
    static const char *const dirs[] = {".", "../lib", "../" SLUB_INSTALL_LIBEXECDIR "/slub",
                                       "../libexec/slub"};
    return try_under(dirs, sizeof(dirs) / sizeof(dirs[0]), name, path, room);
}

static int try_pattern(const char *dir, size_t dir_chars, const char *name, char *path, size_t room)
{
    char pattern[PATH_MAX];
    const int n = snprintf(pattern, sizeof(pattern), "%.*s/%s", (int)dir_chars, dir, name);
    if (n < 0 || (size_t)n >= sizeof(pattern))
        return -ENAMETOOLONG;
    glob_t found;
    int err = -ENOENT;
    if (glob(pattern, 0, NULL, &found) == 0) {
        const char *last = found.gl_pathv[0];
        for (size_t i = 1; i < found.gl_pathc; i++) {
            if (strverscmp(found.gl_pathv[i], last) > 0)
                last = found.gl_pathv[i];
        }
        snprintf(path, room, "%s", last);
        err = 0;
    }
    globfree(&found);
    return err;
}

int places_find_foreign(const char *name, char *path, size_t room)
{
    static const char *const dirs[] = {
        "/usr/local/lib/" SLUB_MULTIARCH,
        "/usr/local/lib",
        "/usr/lib/" SLUB_MULTIARCH,
        "/lib/" SLUB_MULTIARCH,
        "/usr/lib64",
        "/usr/lib",
        "/lib",
        "/usr/lib/llvm-*/lib/clang/*/lib/linux",
        "/usr/lib/clang/*/lib/linux",
        "/usr/lib/clang/*/lib/*",
    };
    const char *extra = getenv("LD_LIBRARY_PATH");

    while (extra != NULL && *extra != '\0') {
        const size_t n = strcspn(extra, ":;");
        if (n > 0 && try_pattern(extra, n, name, path, room) == 0)
            return 0;
        extra += n + (extra[n] != '\0' ? 1 : 0);
    }
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        if (try_pattern(dirs[i], strlen(dirs[i]), name, path, room) == 0)
            return 0;
    }
    return -ENOENT;
}

int places_find_libc(char *path, size_t room)
{
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "getpid");
    if (symbol == NULL || dladdr(symbol, &info) == 0 || info.dli_fname == NULL)
        return -ENOENT;
    char real[PATH_MAX];
    if (realpath(info.dli_fname, real) == NULL)
        return -ENOENT;
    const int n = snprintf(path, room, "%s", real);
    return n < 0 || (size_t)n >= room ? -ENAMETOOLONG : 0;
}
