/* SPDX-License-Identifier: MIT */
/* Owns what a worker finds out about itself: who owns the calls, in which version, and slub's
 * counters.
 *
 * Everything is looked up by name at run time, so that one worker serves every allocator.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/slab_worker.h"

#include "workloads/slab_api.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

#define SPARE_CACHES 64 /* caches that may appear between two snapshots */

typedef int snapshot_fn(struct slub_info *info, struct slub_cache_info *caches, size_t n);

/* ISO C has no conversion from an object pointer to a function pointer; POSIX promises this one. */
static void find_symbol(const char *name, void *function_out)
{
    void *p = dlsym(RTLD_DEFAULT, name);
    memcpy(function_out, &p, sizeof(p));
}

static void copy_text(char *to, size_t room, const char *from)
{
    size_t n = strlen(from);
    if (n >= room)
        n = room - 1;
    memcpy(to, from, n);
    to[n] = '\0';
}

static void append_text(char *to, size_t room, const char *from)
{
    const size_t n = strlen(to);
    copy_text(to + n, room - n, from);
}

static void append_number(char *to, size_t room, unsigned long v)
{
    char digits[24];
    size_t i = sizeof(digits);
    digits[--i] = '\0';
    do {
        digits[--i] = (char)('0' + v % 10);
        v /= 10;
    } while (v != 0);
    append_text(to, room, digits + i);
}

/* The versions are only told by the library that owns the calls: the process has others mapped. */
static void note_version(struct slab_wire_head *h, const void *owner_base)
{
    static const char *const names[] = {"slub_version", "mallctl", "mi_version", "tc_version",
                                        "gnu_get_libc_version"};
    char *out = h->alloc_version;
    const size_t room = sizeof(h->alloc_version);

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *p = dlsym(RTLD_DEFAULT, names[i]);
        Dl_info info;
        if (p == NULL || dladdr(p, &info) == 0 || info.dli_fbase != owner_base)
            continue;
        if (strcmp(names[i], "mallctl") == 0) {
            int (*mallctl)(const char *, void *, size_t *, void *, size_t);
            const char *text = NULL;
            size_t n = sizeof(text);
            find_symbol(names[i], &mallctl);
            if (mallctl("version", &text, &n, NULL, 0) == 0 && text != NULL)
                copy_text(out, room, text);
        } else if (strcmp(names[i], "mi_version") == 0) {
            int (*mi_version)(void);
            find_symbol(names[i], &mi_version);
            const unsigned long v = (unsigned long)mi_version();
            append_number(out, room, v / 100);
            append_text(out, room, ".");
            append_number(out, room, v / 10 % 10);
            append_text(out, room, ".");
            append_number(out, room, v % 10);
        } else if (strcmp(names[i], "tc_version") == 0) {
            const char *(*tc_version)(int *, int *, const char **);
            int major_number;
            int minor_number;
            const char *patch;
            find_symbol(names[i], &tc_version);
            copy_text(out, room, tc_version(&major_number, &minor_number, &patch));
        } else {
            const char *(*version)(void);
            find_symbol(names[i], &version);
            copy_text(out, room, version());
        }
        return;
    }
}

static bool same_file(const char *a, const char *b)
{
    struct stat sa;
    struct stat sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

static void note_slub(struct slab_worker *w)
{
    snapshot_fn *snapshot;
    struct slub_info info = {.size = sizeof(info)};

    find_symbol("slub_snapshot", &snapshot);
    if (snapshot == NULL)
        return;
    const int n = snapshot(&info, NULL, 0);
    if (n < 0)
        return;
    copy_text(w->head->mode, sizeof(w->head->mode), info.mode);
    copy_text(w->head->percpu, sizeof(w->head->percpu), info.percpu);
    copy_text(w->head->percpu_index, sizeof(w->head->percpu_index), info.percpu_index);
    w->n_caches = (size_t)n + SPARE_CACHES;
    w->caches = slab_worker_map(w->n_caches * sizeof(w->caches[0]));
    w->head->has_counters = 1;
}

/* False with a message when the calls go to another file than the one that the runner named. */
bool slab_probe_owner(struct slab_worker *w)
{
    struct slab_wire_head *h = w->head;
    void *symbol = dlsym(RTLD_DEFAULT, SLAB_API_SYMBOL);
    Dl_info owner;

    if (symbol == NULL || dladdr(symbol, &owner) == 0 || owner.dli_fname == NULL) {
        copy_text(h->message, sizeof(h->message), "cannot tell who owns " SLAB_API_SYMBOL);
        return false;
    }
    copy_text(h->owner, sizeof(h->owner), owner.dli_fname);
    if (w->params.expect_path != NULL && !same_file(owner.dli_fname, w->params.expect_path)) {
        copy_text(h->message, sizeof(h->message), SLAB_API_SYMBOL " belongs to ");
        append_text(h->message, sizeof(h->message), owner.dli_fname);
        append_text(h->message, sizeof(h->message), ", not to ");
        append_text(h->message, sizeof(h->message), w->params.expect_path);
        return false;
    }
    /* One call, so that the back end of slub is chosen before it is asked. */
    slab_obj_free(slab_obj_alloc(w, 8));
    note_version(h, owner.dli_fbase);
    Dl_info snapshot;
    void *p = dlsym(RTLD_DEFAULT, "slub_snapshot");
    if (p != NULL && dladdr(p, &snapshot) != 0 && snapshot.dli_fbase == owner.dli_fbase)
        note_slub(w);
    return true;
}

/* Sum of every counter over all caches: only the classes of the test are in use between two calls.
 */
static void sum_counters(struct slab_worker *w, uint64_t sum[SLUB_N_STATS])
{
    snapshot_fn *snapshot;
    find_symbol("slub_snapshot", &snapshot);
    for (size_t i = 0; i < w->n_caches; i++)
        w->caches[i].size = sizeof(w->caches[i]);
    const int n = snapshot(NULL, w->caches, w->n_caches);
    memset(sum, 0, SLUB_N_STATS * sizeof(sum[0]));
    for (size_t i = 0; n > 0 && i < (size_t)n && i < w->n_caches; i++) {
        for (unsigned k = 0; k < SLUB_N_STATS; k++) {
            if (w->caches[i].stat[k] == SLUB_NOT_COUNTED)
                sum[k] = SLUB_NOT_COUNTED;
            else if (sum[k] != SLUB_NOT_COUNTED)
                sum[k] += w->caches[i].stat[k];
        }
    }
}

void slab_probe_counters_start(struct slab_worker *w, size_t size_index)
{
    if (w->head->has_counters)
        sum_counters(w, w->sizes[size_index].counter);
}

void slab_probe_counters_stop(struct slab_worker *w, size_t size_index)
{
    uint64_t now[SLUB_N_STATS];
    uint64_t *counter = w->sizes[size_index].counter;

    if (!w->head->has_counters)
        return;
    sum_counters(w, now);
    for (unsigned k = 0; k < SLUB_N_STATS; k++)
        counter[k] = now[k] == SLUB_NOT_COUNTED ? SLUB_NOT_COUNTED : now[k] - counter[k];
}
