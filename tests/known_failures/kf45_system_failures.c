/* SPDX-License-Identifier: MIT */
/* Case 45: the k-th memory call to the system fails, for every k, once or from there on. Requests
 * get NULL and ENOMEM, or a feature is lost; nothing is damaged, and afterwards everything works
 * again. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oswatch.h"
#include "rng.h"
#include "slubinfo.h"
#include "stamp.h"
#include "testkit.h"

enum { N_SLOTS = 100, EXIT_NOT_REACHED = 33, EXIT_NO_WATCH = 34 };

struct plan {
    unsigned long nth;
    bool forever;
};

struct slot {
    void *p;
    size_t bytes;
};

static struct slot slots[N_SLOTS];
static atomic_bool may_fail;

static void judge(bool got, const char *call)
{
    tk_check(got || errno == ENOMEM, "%s failed with errno %d", call, errno);
    tk_check(got || atomic_load(&may_fail), "%s failed when nothing was made to fail", call);
}

static void release(struct slot *s, uint64_t id)
{
    if (s->p != NULL) {
        tk_check(stamp_first_bad(s->p, s->bytes, id) == s->bytes, "block of %zu bytes changed",
                 s->bytes);
        free(s->p);
    }
    s->p = NULL;
}

static void take(struct slot *s, uint64_t id, struct rng *r)
{
    s->bytes = rng_size(r, 1, rng_below(r, 10) == 0 ? 3u << 20 : 60000);
    errno = 77;
    switch (rng_below(r, 3)) {
    case 0:
        s->p = malloc(s->bytes);
        break;
    case 1:
        s->p = calloc(1, s->bytes);
        if (s->p != NULL)
            tk_check(stamp_first_nonzero(s->p, s->bytes) == s->bytes, "calloc(%zu) is not zero",
                     s->bytes);
        break;
    default:
        s->p = memalign((size_t)64 << rng_below(r, 12), s->bytes);
    }
    judge(s->p != NULL, "an allocation");
    if (s->p != NULL)
        stamp_fill(s->p, s->bytes, id);
}

static void resize(struct slot *s, uint64_t id, struct rng *r)
{
    size_t bytes = rng_size(r, 1, rng_below(r, 4) == 0 ? 6u << 20 : 100000),
           kept = bytes < s->bytes ? bytes : s->bytes;
    void *q;

    errno = 77;
    q = realloc(s->p, bytes);
    judge(q != NULL, "realloc");
    if (q == NULL)
        return;
    tk_check(stamp_first_bad(q, kept / 8 * 8, id) == kept / 8 * 8, "realloc lost a byte");
    stamp_fill(q, bytes, id);
    s->p = q;
    s->bytes = bytes;
}

static void *in_thread(void *unused)
{
    struct rng r = {.s = 7};

    for (int i = 0; i < 20; i++) {
        struct slot s = {0};

        take(&s, 1000, &r);
        release(&s, 1000);
    }
    return unused;
}

static void use_caches(void)
{
    struct slub_cache *(*create)(const char *, size_t, const struct slub_cache_args *, unsigned);
    int (*destroy)(struct slub_cache *);
    void *(*alloc)(struct slub_cache *, unsigned);
    void (*release_to)(struct slub_cache *, void *);
    struct slub_cache *cache;
    void *objects[200];

    if (slubinfo_root() == NULL)
        return;
    *(void **)&create = dlsym(RTLD_DEFAULT, "slub_cache_create");
    *(void **)&destroy = dlsym(RTLD_DEFAULT, "slub_cache_destroy");
    *(void **)&alloc = dlsym(RTLD_DEFAULT, "slub_cache_alloc");
    *(void **)&release_to = dlsym(RTLD_DEFAULT, "slub_cache_free");
    errno = 77;
    cache = create("kf45", 320, NULL, 0);
    judge(cache != NULL, "slub_cache_create");
    if (cache == NULL)
        return;
    for (int i = 0; i < 200; i++) {
        errno = 77;
        objects[i] = alloc(cache, 0);
        judge(objects[i] != NULL, "slub_cache_alloc");
    }
    for (int i = 0; i < 200; i++)
        release_to(cache, objects[i]);
    tk_check(destroy(cache) == 0, "an empty cache cannot be destroyed");
}

static void script(void)
{
    struct rng r = {.s = 45};
    pthread_attr_t attr;
    pthread_t t;
    int err;

    for (unsigned i = 0; i < 300; i++) {
        uint64_t slot = rng_below(&r, N_SLOTS);

        if (slots[slot].p == NULL)
            take(&slots[slot], slot, &r);
        else if (i % 4 == 0)
            resize(&slots[slot], slot, &r);
        else
            release(&slots[slot], slot);
    }
    use_caches();
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 * 1024);
    err = pthread_create(&t, &attr, in_thread, NULL);
    if (err == 0)
        pthread_join(t, NULL);
    tk_check(err == 0 || atomic_load(&may_fail), "pthread_create: error %d", err);
    malloc_trim(0);
}

static void one_failure(void *arg)
{
    const struct plan *plan = arg;
    const char *why;

    if (!oswatch_start(&why))
        _exit(EXIT_NO_WATCH);
    atomic_store(&may_fail, true);
    oswatch_fail(plan->nth, plan->forever);
    script();
    oswatch_fail(0, false);
    atomic_store(&may_fail, false);
    script();
    for (uint64_t i = 0; i < N_SLOTS; i++)
        release(&slots[i], i);
    if (tk_failed())
        _exit(1);
    if (oswatch_failed() == 0)
        _exit(EXIT_NOT_REACHED);
}

/* Returns the largest k that was tried: all there are, or where time ran out. */
static unsigned long every_nth(bool forever, double seconds)
{
    unsigned long most = 500, step = 1;
    double end = tk_now() + seconds;

    for (unsigned long k = 1; k <= most; k += step) {
        struct plan plan = {k, forever};
        int status = tk_child_status(one_failure, &plan, 60);

        if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_REACHED)
            return k - 1;
        if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_WATCH)
            tk_skip("the kernel refuses seccomp user notification");
        if (!tk_check(status == 0, "call %lu%s fails: %s", k, forever ? " and all after it" : "",
                      tk_status_text(status)))
            return k;
        if (tk_now() > end)
            return k;
        /* In the short form the early calls one by one, then fewer. */
        step = tk_full() || k < 24 ? 1 : 1 + k / 12;
    }
    return most;
}

int main(int argc, char **argv)
{
    tk_init("kf45", "failures of the system", argc, argv);
    tk_note("one of up to %lu calls fails", every_nth(false, tk_seconds(1, 300)));
    tk_note("all from one of up to %lu on fail", every_nth(true, tk_seconds(1, 300)));
    return tk_finish();
}
