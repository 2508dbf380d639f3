/* SPDX-License-Identifier: MIT */
/* Owns the table of known allocators and the reading of --alloc NAME[=PATH][:OPTIONS].
 *
 * Options go where the allocator looks for them: SLUB_OPTIONS, MALLOC_CONF, SCUDO_OPTIONS,
 * GLIBC_TUNABLES; for the others the options are assignments, VARIABLE=VALUE, separated by commas.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/allocators.h"

#include "runner/places.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

#define MALLOC_WORKER  "slub-bench-worker"
#define SLUB_WORKER    "slub-bench-worker-slub"
#define MALLOC_CONTROL "libslub-control.so"
#define SLUB_CONTROL   "libslub-control-slub.so"

/* Set by the build: what an installation without development files has. */
#ifndef SLUB_SONAME
#define SLUB_SONAME "libslub.so.1"
#endif

enum home { OURS, FOREIGN, C_LIBRARY, IN_WORKER };

struct known_allocator {
    const char *name;
    unsigned apis; /* bit per enum lab_api */
    enum home home;
    const char *files[3]; /* tried in order; for IN_WORKER the worker */
    const char *package;  /* Debian package that brings it */
    const char *options_variable;
};

#define MALLOC_ONLY (1u << LAB_API_MALLOC)
#define SLUB_ONLY   (1u << LAB_API_SLUB)

static const struct known_allocator known[] = {
    {"system", MALLOC_ONLY, C_LIBRARY, {NULL}, NULL, "GLIBC_TUNABLES"},
    {"slub", MALLOC_ONLY, OURS, {"libslub-malloc.so"}, NULL, "SLUB_OPTIONS"},
    {"slub-fast", MALLOC_ONLY, OURS, {"libslub-malloc-fast.so"}, NULL, "SLUB_OPTIONS"},
    {"slub-static", MALLOC_ONLY, IN_WORKER, {"slub-bench-worker-static"}, NULL, "SLUB_OPTIONS"},
    {"slub-fast-static",
     MALLOC_ONLY,
     IN_WORKER,
     {"slub-bench-worker-static-fast"},
     NULL,
     "SLUB_OPTIONS"},
    {"slub", SLUB_ONLY, OURS, {SLUB_SONAME}, NULL, "SLUB_OPTIONS"},
    {"slub-fast", SLUB_ONLY, OURS, {"libslub-malloc-fast.so"}, NULL, "SLUB_OPTIONS"},
    {"slub-static", SLUB_ONLY, IN_WORKER, {"slub-bench-worker-slub-static"}, NULL, "SLUB_OPTIONS"},
    {"slub-fast-static",
     SLUB_ONLY,
     IN_WORKER,
     {"slub-bench-worker-slub-static-fast"},
     NULL,
     "SLUB_OPTIONS"},
    {"jemalloc", MALLOC_ONLY, FOREIGN, {"libjemalloc.so.2"}, "libjemalloc2", "MALLOC_CONF"},
    {"mimalloc",
     MALLOC_ONLY,
     FOREIGN,
     {"libmimalloc.so.3", "libmimalloc.so.2", "libmimalloc.so.2.*"},
     "libmimalloc2.0",
     NULL},
    {"tcmalloc", MALLOC_ONLY, FOREIGN, {"libtcmalloc_minimal.so.4"}, "libtcmalloc-minimal4", NULL},
    {"scudo",
     MALLOC_ONLY,
     FOREIGN,
     {"libclang_rt.scudo_standalone.so",
#if defined(__aarch64__)
      "libclang_rt.scudo_standalone-aarch64.so"
#else
      "libclang_rt.scudo_standalone-x86_64.so"
#endif
     },
     "libclang-rt-dev",
     "SCUDO_OPTIONS"},
};

#define N_KNOWN (sizeof(known) / sizeof(known[0]))

static const char *const later[] = {"slub-hardened", "slub-debug"};

__attribute__((format(printf, 3, 4))) static int fail(char *error, size_t room, const char *format,
                                                      ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error, room, format, args);
    va_end(args);
    return -1;
}

static char *copy_chars(const char *from, size_t n)
{
    char *to = malloc(n + 1);
    if (to != NULL) {
        memcpy(to, from, n);
        to[n] = '\0';
    }
    return to;
}

static const struct known_allocator *find_known(const char *name, enum lab_api api)
{
    for (size_t i = 0; i < N_KNOWN; i++) {
        if (strcmp(known[i].name, name) == 0 && (known[i].apis & (1u << api)) != 0)
            return &known[i];
    }
    return NULL;
}

/* What stands in a message for "use one of these". */
static void list_known(enum lab_api api, char *text, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < N_KNOWN && used < room; i++) {
        if ((known[i].apis & (1u << api)) != 0)
            used += (size_t)snprintf(text + used, room - used, "%s%s", used == 0 ? "" : ", ",
                                     known[i].name);
    }
}

static int set_worker(struct lab_allocator *a, const char *program, char *error, size_t room)
{
    char path[PATH_MAX];
    if (places_find_helper(program, path, sizeof(path)) != 0)
        return fail(error, room, "%s is not in this installation: install the whole of slub",
                    program);
    a->worker = strdup(path);
    return a->worker == NULL ? fail(error, room, "out of memory") : 0;
}

static int set_path(struct lab_allocator *a, const char *path, char *error, size_t room)
{
    /* The loader splits LD_PRELOAD at both. */
    if (strpbrk(path, " :") != NULL)
        return fail(error, room, "a path with a blank or a colon cannot be preloaded: '%s'", path);
    a->path = strdup(path);
    return a->path == NULL ? fail(error, room, "out of memory") : 0;
}

static int resolve_known(struct lab_allocator *a, const struct known_allocator *k, char *error,
                         size_t room)
{
    char path[PATH_MAX] = "";
    const size_t n_files = sizeof(k->files) / sizeof(k->files[0]);

    a->options_variable = k->options_variable;
    a->is_slub = k->home == OURS || k->home == IN_WORKER;
    a->is_linked = k->home == IN_WORKER;
    if (k->home == C_LIBRARY) {
        if (places_find_libc(path, sizeof(path)) != 0)
            return fail(error, room, "cannot find the C library of this process");
        return set_path(a, path, error, room);
    }
    if (k->home == IN_WORKER) {
        free(a->worker);
        a->worker = NULL;
        if (set_worker(a, k->files[0], error, room) != 0)
            return -1;
        return set_path(a, a->worker, error, room);
    }
    for (size_t i = 0; i < n_files && k->files[i] != NULL; i++) {
        const int err = k->home == OURS ? places_find_library(k->files[i], path, sizeof(path))
                                        : places_find_foreign(k->files[i], path, sizeof(path));
        if (err == 0)
            return set_path(a, path, error, room);
    }
    if (k->home == OURS)
        return fail(error, room, "%s is not in %s: build it, or set SLUB_LIBDIR to its directory",
                    k->files[0], path);
    return fail(error, room, "allocator '%s' not found: install %s, or name it %s=/path/to/lib.so",
                k->name, k->package, k->name);
}

static int resolve_path(struct lab_allocator *a, const char *typed, char *error, size_t room)
{
    char real[PATH_MAX];
    if (realpath(typed, real) == NULL || access(real, R_OK) != 0)
        return fail(error, room, "allocator '%s': cannot read '%s'", a->name, typed);
    /* Ours under another name still is: a library of another build, say. */
    const char *file = strrchr(real, '/') + 1;
    a->is_slub = strncmp(file, "libslub", strlen("libslub")) == 0;
    a->options_variable = a->is_slub ? "SLUB_OPTIONS" : NULL;
    return set_path(a, real, error, room);
}

/* Assignments are checked here; slub's options by the command, which knows their table. */
static int check_options(const struct lab_allocator *a, char *error, size_t room)
{
    if (a->options == NULL || a->options_variable != NULL)
        return 0;
    const char *p = a->options;
    while (*p != '\0') {
        const size_t n = strcspn(p, ",");
        const char *equals = memchr(p, '=', n);
        if (equals == NULL || equals == p)
            return fail(error, room,
                        "allocator '%s': its options are VARIABLE=VALUE[,...], not '%.*s'", a->name,
                        (int)n, p);
        p += n + (p[n] == ',' ? 1 : 0);
    }
    return 0;
}

static int explain_unknown(const struct lab_allocator *a, enum lab_api api, char *error,
                           size_t room)
{
    char names[256];
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        if (strcmp(a->name, later[i]) == 0)
            return fail(error, room, "allocator '%s' comes in a later version", a->name);
    }
    list_known(api, names, sizeof(names));
    return fail(error, room, "unknown allocator '%s': use %s or NAME=/path/to/lib.so", a->name,
                names);
}

static int resolve(struct lab_allocator *a, const char *path, enum lab_api api, char *error,
                   size_t room)
{
    const struct known_allocator *k = find_known(a->name, api);

    if (a->name[0] == '\0')
        return fail(error, room, "allocator without a name: '%s'", a->spec);
    if (path == NULL && k == NULL)
        return explain_unknown(a, api, error, room);
    if (set_worker(a, api == LAB_API_SLUB ? SLUB_WORKER : MALLOC_WORKER, error, room) != 0)
        return -1;
    const int err =
        path != NULL ? resolve_path(a, path, error, room) : resolve_known(a, k, error, room);
    return err != 0 ? err : check_options(a, error, room);
}

int lab_allocator_init(struct lab_allocator *a, const char *spec, enum lab_api api, char *error,
                       size_t room)
{
    char *path = NULL;
    const size_t name_chars = strcspn(spec, "=:");
    const char *rest = spec + name_chars;

    memset(a, 0, sizeof(*a));
    a->spec = strdup(spec);
    a->name = copy_chars(spec, name_chars);
    if (*rest == '=') {
        const size_t n = strcspn(rest + 1, ":");
        path = copy_chars(rest + 1, n);
        rest += 1 + n;
    }
    if (*rest == ':' && rest[1] != '\0')
        a->options = strdup(rest + 1);
    const int err = a->spec == NULL || a->name == NULL ? fail(error, room, "out of memory")
                                                       : resolve(a, path, api, error, room);
    free(path);
    if (err != 0)
        lab_allocator_free(a);
    return err;
}

int lab_allocator_init_control(struct lab_allocator *a, enum lab_api api, char *error, size_t room)
{
    const char *library = api == LAB_API_SLUB ? SLUB_CONTROL : MALLOC_CONTROL;
    const char *worker = api == LAB_API_SLUB ? SLUB_WORKER : MALLOC_WORKER;
    char path[PATH_MAX];

    memset(a, 0, sizeof(*a));
    a->is_control = true;
    a->spec = strdup("control");
    a->name = strdup("control");
    if (places_find_helper(library, path, sizeof(path)) != 0) {
        fail(error, room, "%s is not in this installation: install the whole of slub", library);
    } else if (a->spec == NULL || a->name == NULL) {
        fail(error, room, "out of memory");
    } else if (set_worker(a, worker, error, room) == 0 && set_path(a, path, error, room) == 0) {
        return 0;
    }
    lab_allocator_free(a);
    return -1;
}

int lab_allocator_init_active(struct lab_allocator *a, char *error, size_t room)
{
    memset(a, 0, sizeof(*a));
    a->spec = strdup("active");
    a->name = strdup("active");
    if (a->spec == NULL || a->name == NULL)
        fail(error, room, "out of memory");
    else if (set_worker(a, MALLOC_WORKER, error, room) == 0)
        return 0;
    lab_allocator_free(a);
    return -1;
}

void lab_allocator_free(struct lab_allocator *a)
{
    free(a->spec);
    free(a->name);
    free(a->label);
    free(a->options);
    free(a->path);
    free(a->worker);
    memset(a, 0, sizeof(*a));
}

void lab_allocators_label(struct lab_allocator *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned same = 1;
        char label[128];
        for (size_t j = 0; j < i; j++)
            same += strcmp(a[j].name, a[i].name) == 0 ? 1 : 0;
        if (same == 1)
            snprintf(label, sizeof(label), "%s", a[i].name);
        else
            snprintf(label, sizeof(label), "%s#%u", a[i].name, same);
        free(a[i].label);
        a[i].label = strdup(label);
    }
}

static bool defines(const char *assignment, const char *variable)
{
    const size_t n = strlen(variable);
    return strncmp(assignment, variable, n) == 0 && assignment[n] == '=';
}

/* Sets VARIABLE=VALUE in a list that has room for one more; the text is owned by the list. */
static int put_variable(char **env, size_t *n, const char *variable, const char *value)
{
    char *text;
    if (asprintf(&text, "%s=%s", variable, value) < 0)
        return -1;
    for (size_t i = 0; i < *n; i++) {
        if (defines(env[i], variable)) {
            free(env[i]);
            env[i] = text;
            return 0;
        }
    }
    env[(*n)++] = text;
    env[*n] = NULL;
    return 0;
}

/* slub's own options are joined to the inherited ones, later words win; others are replaced. */
static int put_options(const struct lab_allocator *a, char **env, size_t *n)
{
    if (a->options_variable != NULL) {
        const char *inherited = a->is_slub ? getenv(a->options_variable) : NULL;
        char *joined;
        if (asprintf(&joined, "%s%s%s", inherited != NULL ? inherited : "",
                     inherited != NULL ? " " : "", a->options) < 0)
            return -1;
        const int err = put_variable(env, n, a->options_variable, joined);
        free(joined);
        return err;
    }
    char *list = strdup(a->options);
    int err = list == NULL ? -1 : 0;
    char *rest = list;
    while (err == 0 && rest != NULL) {
        char *assignment = strsep(&rest, ",");
        char *value = strchr(assignment, '=');
        if (value == NULL)
            continue;
        *value = '\0';
        err = put_variable(env, n, assignment, value + 1);
    }
    free(list);
    return err;
}

char **lab_allocator_environ(const struct lab_allocator *a)
{
    size_t n_inherited = 0;
    size_t n_more = 2; /* LD_PRELOAD, and the end */
    while (environ[n_inherited] != NULL)
        n_inherited++;
    for (const char *p = a->options; p != NULL; p = strchr(p + 1, ','))
        n_more++;
    char **env = calloc(n_inherited + n_more + 1, sizeof(env[0]));
    if (env == NULL)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < n_inherited; i++) {
        /* Whatever the command itself was started under has no place in a named worker. */
        if (defines(environ[i], "LD_PRELOAD") && (a->path != NULL || a->is_linked))
            continue;
        env[n] = strdup(environ[i]);
        if (env[n++] == NULL)
            goto fail;
    }
    if (a->path != NULL && !a->is_linked && put_variable(env, &n, "LD_PRELOAD", a->path) != 0)
        goto fail;
    if (a->options != NULL && put_options(a, env, &n) != 0)
        goto fail;
    return env;
fail:
    lab_environ_free(env);
    return NULL;
}

void lab_environ_free(char **env)
{
    for (size_t i = 0; env != NULL && env[i] != NULL; i++)
        free(env[i]);
    free(env);
}
