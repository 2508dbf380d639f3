/* SPDX-License-Identifier: MIT */
/* Case 16: limits on address space and data. The program must start, fail cleanly at the limit, and recover. */
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
                                  "import json; x = [str(i) for i in range(100000)]; json.dumps(x)", NULL};

    for (size_t i = 0; i < sizeof mib / sizeof mib[0]; i++) {
        int status = run_limited(again, (struct limit){RLIMIT_AS, mib[i]});

        /* 32 MiB is said, not asked for. */
        tk_note("%zu MiB %s", mib[i], status == 0 ? "starts" : tk_status_text(status));
        tk_check(mib[i] < 64 || status == 0, "RLIMIT_AS %zu MiB: %s", mib[i], tk_status_text(status));
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

static size_t address_space(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f != NULL) {
        if (fscanf(f, "%zu", &pages) != 1)
            pages = 0;
        fclose(f);
    }
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void recovers(void *unused)
{
    enum { MOST = 200000 };
    static void *blocks[MOST];
    struct rng r = {.s = tk_seed()};
    size_t n = 0, bytes = 0, again = 0;
    struct rlimit limit;

    (void)unused;
    limit.rlim_max = RLIM_INFINITY;
    limit.rlim_cur = address_space() + (64u << 20);
    setrlimit(RLIMIT_AS, &limit);
    for (; n < MOST; n++) {
        size_t want = rng_size(&r, 64, 32768);

        errno = 77;
        blocks[n] = malloc(want);
        if (blocks[n] == NULL)
            break;
        memset(blocks[n], 1, want);
        bytes += want;
    }
    tk_check(n < MOST, "RLIMIT_AS did not bite");
    tk_check(errno == ENOMEM, "at the limit: errno %d", errno);
    for (size_t i = 0; i < n; i += 2)
        free(blocks[i]);
    for (size_t i = 0; i < n; i += 2) {
        blocks[i] = malloc(64);
        again += blocks[i] != NULL;
    }
    tk_check(again == (n + 1) / 2, "%zu of %zu small blocks after freeing half", again, (n + 1) / 2);
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
