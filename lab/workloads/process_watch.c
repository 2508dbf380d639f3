/* SPDX-License-Identifier: MIT */
/* Owns the measurements of the running process: clock, memory, mappings, CPUs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/process_watch.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double watch_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void watch_sleep_s(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds};

    t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
    while (nanosleep(&t, &t) != 0)
        continue;
}

static size_t read_file(const char *path, char *buf, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, buf, size - 1) : -1;

    if (fd >= 0)
        close(fd);
    buf[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

/* A line such as "VmHWM:  1234 kB". */
static size_t status_bytes(const char *name)
{
    char buf[4096];
    const char *at;

    read_file("/proc/self/status", buf, sizeof buf);
    at = strstr(buf, name);
    return at != NULL ? (size_t)strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

size_t watch_rss_bytes(void)
{
    return status_bytes("VmRSS:");
}

size_t watch_peak_rss_bytes(void)
{
    return status_bytes("VmHWM:");
}

size_t watch_n_maps(void)
{
    char buf[4096];
    size_t lines = 0;
    ssize_t n;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    while ((n = read(fd, buf, sizeof buf)) > 0)
        for (ssize_t i = 0; i < n; i++)
            lines += buf[i] == '\n';
    close(fd);
    return lines;
}

int watch_cpus(int *ids, int n)
{
    cpu_set_t set;
    int found = 0;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set)) {
            if (found < n)
                ids[found] = cpu;
            found++;
        }
    return found;
}

void watch_pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}
