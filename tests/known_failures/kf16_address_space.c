/* SPDX-License-Identifier: MIT */
/* Case 16: limits on address space and data. The program must start, fail cleanly at the limit, and
 * recover. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rng.h"
#include "testkit.h"

struct limit {
    int resource;
    size_t mib;
};

static void set_limit(void *arg)
{
    const struct limit *l = arg;
    struct rlimit r = {.rlim_cur = (rlim_t)l->mib << 20, .rlim_max = (rlim_t)l->mib << 20};

    setrlimit((__rlimit_resource_t)l->resource, &r);
}

static int run_limited(const char *const *argv, struct limit l)
{
    struct tk_exec e = {.argv = argv, .before = set_limit, .arg = &l, .limit_s = 60};

    tk_run(&e);
    return e.status;
}

static void starts(void)
{
    static const size_t mib[] = {32, 64, 128, 512, 2048, 8192};
    const char *const again[] = {tk_self(), "hello", NULL};
    const char *const python[] = {"/usr/bin/python3", "-c",
                                  "import json; x = [str(i) for i in range(100000)]; json.dumps(x)",
                                  NULL};

    for (size_t i = 0; i < sizeof mib / sizeof mib[0]; i++) {
        int status = run_limited(again, (struct limit){RLIMIT_AS, mib[i]});

        /* 32 MiB is said, not asked for. */
        tk_note("%zu MiB %s", mib[i], status == 0 ? "starts" : tk_status_text(status));
        tk_check(mib[i] < 64 || status == 0, "RLIMIT_AS %zu MiB: %s", mib[i],
                 tk_status_text(status));
        if (mib[i] < 64)
            continue;
        status = run_limited(again, (struct limit){RLIMIT_DATA, mib[i]});
        tk_check(status == 0, "RLIMIT_DATA %zu MiB: %s", mib[i], tk_status_text(status));
    }
    if (access(python[0], X_OK) == 0) {
        int status = run_limited(python, (struct limit){RLIMIT_AS, 64});

        tk_note("python in 64 MiB %s", status == 0 ? "runs" : tk_status_text(status));
        tk_check(status == 0, "python3 under ulimit -v 65536: %s", tk_status_text(status));
    }
}

/* "VmSize:" or "VmData:" of this process, in bytes. */
static size_t used_now(const char *name)
{
    char line[256];
    size_t kib = 0;
    FILE *f = fopen("/proc/self/status", "r");

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtoull(line + strlen(name), NULL, 10);
    if (f != NULL)
        fclose(f);
    return kib * 1024;
}

static void leave(int resource, size_t bytes)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};

    setrlimit((__rlimit_resource_t)resource, &limit);
}

/* Address space that was reserved before a limit is not limited by it; what is made writable is
 * data. */
static void recovers(void *unused)
{
    enum { MOST = 200000 };
    static void *blocks[MOST];
    static size_t sizes[MOST];
    struct rng r = {.s = tk_seed()};
    size_t n = 0, bytes = 0, again = 0;

    (void)unused;
    leave(RLIMIT_AS, used_now("VmSize:") + (64u << 20));
    leave(RLIMIT_DATA, used_now("VmData:") + (64u << 20));
    for (; n < MOST; n++) {
        size_t want = rng_size(&r, 64, 32768);

        errno = 77;
        blocks[n] = malloc(want);
        if (blocks[n] == NULL)
            break;
        memset(blocks[n], 1, want);
        bytes += want;
        sizes[n] = want;
    }
    tk_check(n < MOST, "the limit did not bite");
    tk_check(errno == ENOMEM, "at the limit: errno %d", errno);
    for (size_t i = 0; i < n; i += 2)
        free(blocks[i]);
    for (size_t i = 0; i < n; i += 2) {
        blocks[i] = malloc(sizes[i]);
        again += blocks[i] != NULL;
    }
    tk_check(again >= (n + 1) / 2 * 9 / 10, "%zu of %zu blocks after freeing as many", again,
             (n + 1) / 2);
    for (size_t i = 0; i < n; i++)
        free(blocks[i]);
    tk_note("%.0f MiB in 64 MiB, then recovers", (double)bytes / TK_MIB);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "hello") == 0) {
        printf("%s\n", strcmp(strdup("hello"), "hello") == 0 ? "hello" : "?");
        free(memset(malloc(1000000), 1, 1000000));
        return 0;
    }
    tk_init("kf16", "limits of address space", argc, argv);
    starts();
    tk_child("recovery", recovers, NULL, 60);
    return tk_finish();
}
