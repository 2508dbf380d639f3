/* SPDX-License-Identifier: MIT */
/* Owns the way of a program onto libslub-malloc.so: search, checks, environment.
 *
 * The loader ignores a preload without a word where it cannot take place (a static or privileged
 * program, one of another machine), so each of these cases is refused here.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "preload.h"

#include "cli.h"
#include "elf_file.h"
#include "opt_table.h"
#include "runner/places.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MOST_INTERPRETERS 4 /* scripts that name scripts; the kernel's own limit */

/* ---- the program --------------------------------------------------------------------- */

static bool is_executable(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As execvp(3): a name with a slash is a path, another is looked for in PATH. 0, -EACCES or
 * -ENOENT. */
static int find_program(const char *name, char path[PATH_MAX])
{
    const char *dirs = getenv("PATH");
    int err = -ENOENT;

    if (strchr(name, '/') != NULL) {
        snprintf(path, PATH_MAX, "%s", name);
        if (is_executable(path))
            return 0;
        return access(path, F_OK) == 0 ? -EACCES : -ENOENT;
    }
    if (dirs == NULL)
        dirs = "/bin:/usr/bin";
    for (;;) {
        const size_t n = strcspn(dirs, ":");
        const int chars =
            snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, dirs, n == 0 ? "" : "/", name);
        if (chars > 0 && chars < PATH_MAX && name[0] != '\0') {
            if (is_executable(path))
                return 0;
            if (access(path, F_OK) == 0)
                err = -EACCES;
        }
        if (dirs[n] == '\0')
            return err;
        dirs += n + 1;
    }
}

/* The kernel would run it with other rights than ours, and the loader then ignores LD_PRELOAD. */
static bool is_privileged(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    if (((st.st_mode & S_ISUID) != 0 && st.st_uid != getuid()) ||
        ((st.st_mode & S_ISGID) != 0 && (st.st_mode & S_IXGRP) != 0 && st.st_gid != getgid()))
        return true;
    return getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* The file that a script's first line names; false when it is no script. */
static bool read_script(int fd, char interpreter[PATH_MAX])
{
    char line[256];
    const ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[n] = '\0';
    line[strcspn(line, "\n")] = '\0';
    const char *start = line + 2 + strspn(line + 2, " \t");
    snprintf(interpreter, PATH_MAX, "%.*s", (int)strcspn(start, " \t"), start);
    return interpreter[0] != '\0';
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Compares the program with this command, which was built with the library. */
static int check_elf(const char *command, const char *path, const struct elf_file *f)
{
    struct elf_file own;
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    if (f->interpreter[0] == '\0')
        return cli_usage(command, "'%s' is statically linked: nothing can be preloaded into it",
                         path);
    if (fd < 0 || elf_file_open(&own, fd) != 0)
        return CLI_DONE;
    int status = CLI_DONE;
    if (f->machine != own.machine || f->elf_class != own.elf_class)
        status = cli_usage(command, "'%s' is for another machine or word size than slub", path);
    else if (strcmp(base_name(f->interpreter), base_name(own.interpreter)) != 0)
        status = cli_usage(command, "'%s' runs on %s, slub was built for %s", path, f->interpreter,
                           own.interpreter);
    elf_file_close(&own);
    return status;
}

/* A file that is neither ELF nor script is left to exec, which says what is wrong with it. */
static int check_program(const char *command, const char *program)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s", program);

    for (unsigned i = 0; i < MOST_INTERPRETERS; i++) {
        char interpreter[PATH_MAX];
        struct elf_file f;
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return CLI_DONE; /* executable but not readable: nothing can be said */
        const bool is_script = read_script(fd, interpreter);
        /* The kernel ignores these bits on scripts. */
        if (!is_script && is_privileged(fd)) {
            close(fd);
            return cli_usage(command,
                             "'%s' runs with other rights (setuid, setgid or capabilities): "
                             "the loader would ignore the preload",
                             path);
        }
        if (!is_script) {
            if (elf_file_open(&f, fd) != 0)
                return CLI_DONE;
            const int status = check_elf(command, path, &f);
            elf_file_close(&f);
            return status;
        }
        close(fd);
        snprintf(path, sizeof(path), "%s", interpreter);
    }
    return CLI_DONE;
}

/* ---- the library and its options ----------------------------------------------------- */

static int choose_mode(const struct preload *p, const char **mode)
{
    const char *word;
    size_t n;
    const bool has_word = p->options != NULL && opt_find(p->options, "mode", &word, &n) == 0;
    const char *asked = p->mode;

    if (asked != NULL && (strcmp(asked, "hardened") == 0 || strcmp(asked, "debug") == 0))
        return cli_usage(p->command, "mode '%s' is not in this version", asked);
    if (asked != NULL && strcmp(asked, "default") != 0 && strcmp(asked, "fast") != 0)
        return cli_usage(p->command, "unknown mode '%s': use default or fast", asked);
    if (asked != NULL && has_word && (strlen(asked) != n || memcmp(asked, word, n) != 0))
        return cli_usage(p->command, "--mode %s contradicts --options mode=%.*s", asked, (int)n,
                         word);
    *mode = asked != NULL ? asked : has_word && n == strlen("fast") ? "fast" : "default";
    return CLI_DONE;
}

static int find_library(const struct preload *p, const char *mode, char path[PATH_MAX])
{
    const char *name = strcmp(mode, "fast") == 0 ? "libslub-malloc-fast.so" : "libslub-malloc.so";

    if (places_find_library(name, path, PATH_MAX) != 0)
        return cli_usage(p->command,
                         "%s is not in %s: build it, or set SLUB_LIBDIR to its directory", name,
                         path);
    if (strpbrk(path, " :") != NULL)
        return cli_usage(p->command,
                         "the loader cannot preload a path with a blank or a colon: '%s'", path);
    return CLI_DONE;
}

/* Ours first, then what was there, without another library of ours: two would both be loaded. */
static int join_preload(const char *library)
{
    const char *old = getenv("LD_PRELOAD");
    const size_t room = strlen(library) + 2 + (old == NULL ? 0 : strlen(old));
    char *joined = malloc(room);

    if (joined == NULL)
        return -ENOMEM;
    size_t used = (size_t)snprintf(joined, room, "%s", library);
    while (old != NULL && *old != '\0') {
        const size_t n = strcspn(old, ": ");
        char word[PATH_MAX];
        snprintf(word, sizeof(word), "%.*s", (int)n, old);
        if (n > 0 && strncmp(base_name(word), "libslub-malloc", strlen("libslub-malloc")) != 0)
            used += (size_t)snprintf(joined + used, room - used, ":%s", word);
        old += n + (old[n] != '\0' ? 1 : 0);
    }
    const int err = setenv("LD_PRELOAD", joined, 1) != 0 ? -errno : 0;
    free(joined);
    return err;
}

/* The library writes the table when the program ends, where nobody would see a complaint. The file itself may be
 * made then. */
static int check_writable(const struct preload *p, const char *path)
{
    char dir[PATH_MAX];

    if (access(path, W_OK) == 0)
        return CLI_DONE;
    snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
    if (errno == ENOENT && access(dir, W_OK | X_OK) == 0)
        return CLI_DONE;
    return cli_usage(p->command, "cannot write the slab table to '%s': %s", path, strerror(errno));
}

/* The program may change its directory before the table is written. */
static int absolute_file(const struct preload *p, char path[PATH_MAX])
{
    char dir[PATH_MAX];
    const char *file = p->slabinfo;

    if (strcmp(file, "stderr") == 0 || file[0] == '/')
        snprintf(path, PATH_MAX, "%s", file);
    else if (getcwd(dir, sizeof(dir)) == NULL ||
             snprintf(path, PATH_MAX, "%s/%s", dir, file) >= PATH_MAX)
        return cli_usage(p->command, "cannot make '%s' absolute", file);
    for (const char *c = path; *c != '\0'; c++) {
        if (isspace((unsigned char)*c))
            return cli_usage(p->command, "--slabinfo takes no path with a blank: '%s'", path);
    }
    return strcmp(file, "stderr") == 0 ? CLI_DONE : check_writable(p, path);
}

/* Inherited options first: of two words with one name the later counts. */
static int join_options(const struct preload *p)
{
    const char *inherited = getenv("SLUB_OPTIONS");
    char file[PATH_MAX] = "";
    char slabinfo[PATH_MAX + 16] = "";
    char why[512];
    char *joined = NULL;

    if (p->slabinfo != NULL) {
        const int status = absolute_file(p, file);
        if (status != CLI_DONE)
            return status;
        snprintf(slabinfo, sizeof(slabinfo), "slabinfo=%s", file);
    }
    if (opt_check(slabinfo, why, sizeof(why)) != 0)
        return cli_usage(p->command, "%s", why);
    if (p->options == NULL && p->slabinfo == NULL)
        return CLI_DONE;
    if (asprintf(&joined, "%s%s%s%s%s", inherited != NULL ? inherited : "",
                 inherited != NULL ? " " : "", p->options != NULL ? p->options : "",
                 p->options != NULL && slabinfo[0] != '\0' ? " " : "", slabinfo) < 0)
        return cli_usage(p->command, "out of memory");
    const int err = setenv("SLUB_OPTIONS", joined, 1);
    free(joined);
    return err != 0 ? cli_usage(p->command, "cannot set SLUB_OPTIONS: %s", strerror(errno))
                    : CLI_DONE;
}

int preload_prepare(const struct preload *p, const char *program, char path[PATH_MAX])
{
    char library[PATH_MAX];
    char why[512];
    const char *mode = "default";

    if (p->options != NULL && opt_check(p->options, why, sizeof(why)) != 0)
        return cli_usage(p->command, "%s", why);
    int status = choose_mode(p, &mode);
    if (status == CLI_DONE)
        status = find_library(p, mode, library);
    if (status != CLI_DONE)
        return status;
    switch (find_program(program, path)) {
    case 0:
        break;
    case -EACCES:
        return cli_complain(p->command, CLI_CANNOT_EXECUTE,
                            "cannot execute '%s': permission denied", program);
    default:
        return cli_complain(p->command, CLI_NOT_FOUND, "'%s' not found", program);
    }
    status = check_program(p->command, path);
    if (status == CLI_DONE)
        status = join_options(p);
    if (status == CLI_DONE && join_preload(library) != 0)
        status = cli_usage(p->command, "cannot set LD_PRELOAD");
    return status;
}
