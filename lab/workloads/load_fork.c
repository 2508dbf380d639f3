/* SPDX-License-Identifier: MIT */
/* Owns the fork workloads: a process with a heap of live objects that forks; its children may allocate, too. */
#include "workloads/load.h"
#include "workloads/rng.h"
#include "workloads/ticks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t n_forks = 40, live_kib = 8192, child_kib;

/* Blocks of 16 to 1024 bytes; every eighth is freed again, so that the heap has holes as that of a program has. */
static void fill_heap(uint64_t kib)
{
    struct rng rng = {1};
    void **blocks = load_alloc((kib + 1) * 4 * sizeof(blocks[0]));
    size_t n = 0;

    for (uint64_t bytes = 0; bytes < kib * 1024 && n < kib * 4;) {
        const size_t size = rng_size(&rng, 16, 1024);
        blocks[n] = load_alloc(size);
        memset(blocks[n++], 1, size);
        bytes += size;
    }
    for (size_t i = 0; i < n; i += 8)
        free(blocks[i]);
}

static void child(void)
{
    struct rng rng = {2};
    void *blocks[64];

    for (uint64_t bytes = 0; bytes < child_kib * 1024;) {
        for (size_t i = 0; i < 64; i++) {
            const size_t size = rng_size(&rng, 16, 16384);
            blocks[i] = load_alloc(size);
            memset(blocks[i], 1, size);
            bytes += size;
        }
        for (size_t i = 0; i < 64; i++)
            free(blocks[i]);
    }
    _exit(0);
}

static int run(int argc, char **argv)
{
    const struct load_option options[] = {
        {"forks", 'n', "children, one after the other", &n_forks, 1, 1000000, false},
        {"live", 'l', "KiB that are live in the parent", &live_kib, 0, 1 << 20, false},
        {"child", 'c', "KiB that each child allocates in all", &child_kib, 0, 1 << 20, false},
    };

    load_options(argc, argv, options, sizeof(options) / sizeof(options[0]));
    fill_heap(live_kib);
    const uint64_t started_ns = ticks_now_ns();
    for (uint64_t i = 0; i < n_forks; i++) {
        int status;
        const pid_t pid = fork();
        if (pid == 0)
            child();
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            load_die("fork");
    }
    printf("fork %.3f\n", (double)(ticks_now_ns() - started_ns) / 1e3 / (double)n_forks);
    return 0;
}

int load_fork(int argc, char **argv)
{
    return run(argc, argv);
}

int load_fork_mem(int argc, char **argv)
{
    n_forks = 10;
    child_kib = 256;
    return run(argc, argv);
}
