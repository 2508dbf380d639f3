/* SPDX-License-Identifier: MIT */
/* Owns malloc1 and malloc2, after will-it-scale: tasks that allocate and free one block for a fixed time. */
#include "workloads/load.h"
#include "workloads/ticks.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_TASKS 1024
#define PER_LOOK   64 /* operations between two looks at the clock, of small blocks */

static uint64_t n_tasks, sample_ms = 300, as_processes, block_bytes;
static uint64_t page_bytes;

/* Shared by the tasks, also as processes. */
static struct task_count {
    _Alignas(128) _Atomic uint64_t ops;
} *counts;

static void task(unsigned i)
{
    const uint64_t until_ns = ticks_now_ns() + sample_ms * 1000000u;
    const unsigned per_look = block_bytes > page_bytes ? 1 : PER_LOOK;
    uint64_t ops = 0;

    do {
        for (unsigned k = 0; k < per_look; k++) {
            char *p = load_alloc(block_bytes);
            for (uint64_t at = 0; block_bytes > page_bytes && at < block_bytes; at += page_bytes)
                ((volatile char *)p)[at] = 1;
            free(p);
        }
        ops += per_look;
    } while (ticks_now_ns() < until_ns);
    counts[i].ops = ops;
}

/* CPU time of all tasks: unlike the rate, not stretched by what else runs. */
static double cpu_ns(void)
{
    double ns = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct rusage u;
        (void)getrusage(i == 0 ? RUSAGE_SELF : RUSAGE_CHILDREN, &u);
        ns += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 +
              (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
    }
    return ns;
}

static int run(int argc, char **argv)
{
    const struct load_option options[] = {
        {"tasks", 't', "tasks", &n_tasks, 1, MOST_TASKS, false},
        {"ms", 'm', "milliseconds", &sample_ms, 1, 3600000, false},
        {"process", 'P', "processes instead of threads", &as_processes, 0, 1, true},
        {"bytes", 's', "bytes of a block", &block_bytes, 1, UINT64_C(1) << 40, false},
    };
    uint64_t sum = 0, least = UINT64_MAX, most = 0;

    n_tasks = load_n_cpus();
    page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    load_options(argc, argv, options, sizeof(options) / sizeof(options[0]));
    counts = mmap(NULL, n_tasks * sizeof(counts[0]), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == MAP_FAILED)
        load_die("mmap");
    const double before_ns = cpu_ns();
    load_run_tasks((unsigned)n_tasks, as_processes != 0, task);
    const double used_ns = cpu_ns() - before_ns;
    for (uint64_t i = 0; i < n_tasks; i++) {
        const uint64_t ops = counts[i].ops;
        sum += ops;
        least = ops < least ? ops : least;
        most = ops > most ? ops : most;
    }
    const double s = (double)sample_ms / 1e3;
    printf("rate %.1f\nmin %.1f\nmax %.1f\ncost %.3f\n", (double)sum / s, (double)least / s, (double)most / s,
           used_ns / (double)sum);
    return 0;
}

int load_malloc1(int argc, char **argv)
{
    block_bytes = 128u << 20;
    return run(argc, argv);
}

int load_malloc2(int argc, char **argv)
{
    block_bytes = 1024;
    return run(argc, argv);
}
