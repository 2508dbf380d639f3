/* SPDX-License-Identifier: MIT */
/* Case 10: free(), realloc() and malloc_usable_size() of pointers that are not ours: from a library
 * opened with RTLD_DEEPBIND, from the stack, from static memory, from nowhere. The look-up must be
 * total: no fault. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "rng.h"
#include "slubinfo.h"
#include "testkit.h"

enum call { FREE, REALLOC, USABLE };
static const char *const call_names[] = {"free", "realloc", "malloc_usable_size"};

static char *(*make)(void);
static void (*release)(char *);

struct stranger {
    const char *name;
    uintptr_t address;
    enum call call;
};

static void touch(void *arg)
{
    const struct stranger *s = arg;
    void *p = (void *)tk_opaque(s->address);

    errno = 77;
    if (s->call == FREE) {
        free(p);
        tk_check(errno == 77, "free(%s): errno %d", s->name, errno);
    } else if (s->call == REALLOC) {
        p = realloc(p, 100);
        if (p != NULL)
            memset(p, 1, 100);
    } else {
        tk_keep((void *)malloc_usable_size(p));
    }
    /* The heap is as it was. */
    for (size_t i = 0; i < 200; i++)
        free(memset(malloc(i * 11 + 1), 1, i * 11 + 1));
}

/* Ignored, or ended by a report: both are a policy. A fault is not. */
static bool is_policy(int status)
{
    return status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void strangers(void)
{
    static char in_bss[4096];
    static char in_data[64] = "data";
    char local[64];
    char *mapped = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *guarded = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct {
        const char *name;
        uintptr_t address;
    } all[] = {
        {"a local", (uintptr_t)local + 16},
        {"0xBADBEEF", 0xBADBEEF},
        {"1", 1},
        {"16", 16},
        {"static memory", (uintptr_t)in_bss + 16},
        {"initialised data", (uintptr_t)in_data + 16},
        {"a function", (uintptr_t)&is_policy},
        {"mapped memory", (uintptr_t)mapped + 4096},
        {"unreadable memory", (uintptr_t)guarded + 4096},
        {"a non-canonical address", (uintptr_t)0x00deadbeefcafe00u << 4},
        {"an address of the kernel", (uintptr_t)0xffffffff81000000u},
        {"the last byte", UINTPTR_MAX},
        {"the last 16 bytes", UINTPTR_MAX - 15},
        {"the end of user space", (uintptr_t)0x00007ffffffff000u},
    };
    unsigned n_ignored = 0, n_reported = 0, n_faults = 0;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (enum call call = FREE; call <= USABLE; call++) {
            struct stranger s = {all[i].name, all[i].address, call};
            int status = tk_child_status(touch, &s, 20);

            n_ignored += status == 0;
            n_reported += status != 0 && is_policy(status);
            n_faults += !is_policy(status);
            tk_check(is_policy(status), "%s of %s: %s", call_names[call], s.name,
                     tk_status_text(status));
            if (slubinfo_root() != NULL && call == FREE)
                tk_check(status == 0, "free of %s: %s, must be ignored", s.name,
                         tk_status_text(status));
        }
    tk_note("strangers: %u ignored %u reported %u faults", n_ignored, n_reported, n_faults);
}

/* The look-up over addresses of all magnitudes, in one process; slub only, others have no such
 * promise. */
static void everywhere(void *unused)
{
    struct rng r = {.s = tk_seed()};
    struct slub_info before, after;
    size_t n = tk_count(200000, 5000000), n_freed = 0;

    (void)unused;
    slubinfo_get(&before);
    for (size_t i = 0; i < n; i++) {
        /* The upper half is never the program's; in the lower half only what no heap can reach. */
        uintptr_t a = rng_next(&r) | (uintptr_t)1 << 63;

        if (i % 4 == 0)
            a = 1 + rng_below(&r, 65535);
        free((void *)a);
        n_freed++;
    }
    slubinfo_get(&after);
    tk_check(after.foreign_frees - before.foreign_frees == n_freed,
             "%zu foreign frees, %llu counted", n_freed,
             (unsigned long long)(after.foreign_frees - before.foreign_frees));
    tk_note("%zu addresses ignored and counted", n_freed);
}

static void theirs_to_us(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++)
        free(make());
}

static void ours_to_them(void *unused)
{
    (void)unused;
    release(malloc(100));
}

static void deep_bound(void)
{
    void *lib = dlopen(tk_beside("kf10_deepbind.so"), RTLD_NOW | RTLD_DEEPBIND);
    int status;

    if (!tk_check(lib != NULL, "dlopen: %s", dlerror()))
        return;
    *(void **)&make = dlsym(lib, "kf10_by_strdup");
    *(void **)&release = dlsym(lib, "kf10_release");
    status = tk_child_status(theirs_to_us, NULL, 20);
    tk_check(is_policy(status), "free of strdup from a deep-bound library: %s",
             tk_status_text(status));
    tk_note("its strdup, our free: %s", tk_status_text(status));
    *(void **)&make = dlsym(lib, "kf10_by_malloc");
    status = tk_child_status(theirs_to_us, NULL, 20);
    tk_check(is_policy(status), "free of malloc from a deep-bound library: %s",
             tk_status_text(status));
    tk_note("its malloc, our free: %s", tk_status_text(status));
    /* libc's own free gets our block and nobody can step between: said, not judged. */
    tk_note("our malloc, its free: %s", tk_status_text(tk_child_status(ours_to_them, NULL, 20)));
}

int main(int argc, char **argv)
{
    tk_init("kf10", "foreign pointers", argc, argv);
    strangers();
    if (slubinfo_root() != NULL)
        tk_child("addresses everywhere", everywhere, NULL, 60);
    deep_bound();
    return tk_finish();
}
