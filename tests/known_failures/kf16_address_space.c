/* SPDX-License-Identifier: MIT */
/* Case 16: limits on address space and data. The program must start, fail cleanly at the limit, and
 * recover. */
#include <errno.h>
#include <stdbool.h>
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

/* ---- phases: what one kind of block leaves must serve the other kind
 * ------------------------------ */

enum { N_PHASES = 4, LEAST_PERCENT = 80 };

/* Up to the limit with blocks of least to most bytes, then free all. Returns bytes reached. */
static size_t fill_up(size_t least, size_t most, uint64_t seed)
{
    struct rng r = {.s = seed};
    void **last = NULL; /* each block holds the address of the one before */
    size_t bytes = 0;

    for (;;) {
        size_t want = rng_size(&r, least, most);
        void **block = malloc(want);

        if (block == NULL)
            break;
        memset(block, 1, want < 4096 ? want : 4096);
        block[0] = last;
        last = block;
        bytes += want;
    }
    while (last != NULL) {
        void **next = last[0];

        free(last);
        last = next;
    }
    return bytes;
}

/* In a program of its own, under a limit that was there before it began. */
static int phases(size_t limit_mib, size_t most)
{
    static const char *const kind[N_PHASES] = {"large", "small", "small again", "large again"};
    size_t reached[N_PHASES];
    int bad = 0;

    reached[0] = fill_up(40000, most, 1);
    reached[1] = fill_up(512, 20000, 2);
    reached[2] = fill_up(100, 12000, 3);
    reached[3] = fill_up(40000, most, 4);
    for (int i = 0; i < N_PHASES; i++) {
        bool ok =
            reached[i] * 100 >= reached[0] * LEAST_PERCENT && reached[i] >= limit_mib * TK_MIB / 2;

        fprintf(stderr, "%s%s: %zu of %zu MiB\n", ok ? "" : "WRONG ", kind[i], reached[i] >> 20,
                limit_mib);
        bad |= !ok;
    }
    return bad;
}

static void all_phases(void)
{
    static const struct limit limits[] = {
        {RLIMIT_AS, 64}, {RLIMIT_DATA, 64}, {RLIMIT_AS, 256}, {RLIMIT_AS, 1024}};
    size_t n = tk_full() ? sizeof limits / sizeof limits[0] : 2;
    static const char *const most[] = {"300000", "6000000"};

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof most / sizeof most[0]; k++) {
            char mib[24];
            const char *const argv[] = {tk_self(), "phases", mib, most[k], NULL};

            snprintf(mib, sizeof mib, "%zu", limits[i].mib);
            int status = run_limited(argv, limits[i]);
            tk_check(status == 0, "%s %zu MiB, blocks up to %s bytes: %s",
                     limits[i].resource == RLIMIT_AS ? "RLIMIT_AS" : "RLIMIT_DATA", limits[i].mib,
                     most[k], tk_status_text(status));
        }
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "phases") == 0)
        return phases(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
    if (argc > 1 && strcmp(argv[1], "hello") == 0) {
        printf("%s\n", strcmp(strdup("hello"), "hello") == 0 ? "hello" : "?");
        free(memset(malloc(1000000), 1, 1000000));
        return 0;
    }
    tk_init("kf16", "limits of address space", argc, argv);
    starts();
    all_phases();
    tk_child("recovery", recovers, NULL, 60);
    return tk_finish();
}
