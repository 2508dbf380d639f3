/* SPDX-License-Identifier: MIT */
/* Owns the description of the machine, from /proc, /sys and uname(2). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/machine.h"

#include "runner/lists.h"
#include "workloads/ticks.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#define NODE_DIR       "/sys/devices/system/node"
#define MOST_CPUS      8192
#define CALIBRATION_NS 50000000u

/* First line of a file without its end; false and "" when it cannot be read. */
static bool read_line(const char *path, char *line, size_t room)
{
    line[0] = '\0';
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return false;
    const bool ok = fgets(line, (int)room, f) != NULL;
    fclose(f);
    line[strcspn(line, "\n")] = '\0';
    return ok;
}

/* Value of the first line "name : value" of /proc/cpuinfo or "name: value kB" of /proc/meminfo. */
static bool read_field(const char *path, const char *name, char *value, size_t room)
{
    char *line = NULL;
    size_t line_room = 0;
    bool found = false;
    FILE *f = fopen(path, "re");

    value[0] = '\0';
    if (f == NULL)
        return false;
    while (!found && getline(&line, &line_room, f) > 0) {
        const size_t n = strlen(name);
        char *colon = strchr(line, ':');
        if (strncmp(line, name, n) != 0 || colon == NULL ||
            strspn(line + n, " \t") != (size_t)(colon - line) - n)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(value, room, "%s", colon);
        found = true;
    }
    free(line);
    fclose(f);
    return found;
}

static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)) != NULL; p += n) {
        if ((p == list || p[-1] == ' ') && (p[n] == '\0' || p[n] == ' '))
            return true;
    }
    return false;
}

static void describe_cpu(struct lab_machine *m)
{
    char flags[8192];

    if (!read_field("/proc/cpuinfo", "model name", m->cpu_model, sizeof(m->cpu_model)) &&
        !read_field("/proc/cpuinfo", "CPU part", m->cpu_model, sizeof(m->cpu_model)))
        snprintf(m->cpu_model, sizeof(m->cpu_model), "unknown");
    read_field("/proc/cpuinfo", "flags", flags, sizeof(flags));
    m->is_guest = has_word(flags, "hypervisor");
#if defined(__x86_64__) || defined(__i386__)
    m->has_constant_clock = has_word(flags, "constant_tsc");
#else
    m->has_constant_clock = true; /* by definition of the counters that ticks.h reads */
#endif
}

static void describe_thp(struct lab_machine *m)
{
    char line[256];
    read_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof(line));
    const char *word = strchr(line, '[');
    if (word != NULL)
        snprintf(m->thp, sizeof(m->thp), "%.*s", (int)strcspn(word + 1, "]"), word + 1);
}

void lab_machine_describe(struct lab_machine *m)
{
    struct utsname u;
    unsigned nodes[1024];
    size_t n_nodes = 1;
    char line[4096];

    memset(m, 0, sizeof(*m));
    describe_cpu(m);
    describe_thp(m);
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", m->governor,
              sizeof(m->governor));
    if (uname(&u) == 0)
        snprintf(m->kernel, sizeof(m->kernel), "%s %s %s %s", u.sysname, u.release, u.version,
                 u.machine);
#ifdef __GLIBC__
    snprintf(m->libc, sizeof(m->libc), "glibc %s", gnu_get_libc_version());
#else
    snprintf(m->libc, sizeof(m->libc), "not glibc");
#endif
    snprintf(m->compiler, sizeof(m->compiler), "%s",
#ifdef __clang__
             "clang " __clang_version__
#else
             "gcc " __VERSION__
#endif
    );
    m->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    m->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * m->page_bytes;
    m->n_cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    if (read_line(NODE_DIR "/online", line, sizeof(line)))
        (void)lists_parse_ids(line, 65535, nodes, sizeof(nodes) / sizeof(nodes[0]), &n_nodes);
    m->n_nodes = (unsigned)n_nodes;
}

int lab_machine_cpus(unsigned *cpus, size_t room, size_t *n_cpus)
{
    cpu_set_t *set = CPU_ALLOC(MOST_CPUS);
    const size_t bytes = CPU_ALLOC_SIZE(MOST_CPUS);
    size_t n = 0;

    if (set == NULL)
        return -ENOMEM;
    CPU_ZERO_S(bytes, set);
    const int err = sched_getaffinity(0, bytes, set) != 0 ? -errno : 0;
    for (unsigned i = 0; err == 0 && i < MOST_CPUS && n < room; i++) {
        if (CPU_ISSET_S(i, bytes, set))
            cpus[n++] = i;
    }
    CPU_FREE(set);
    *n_cpus = n;
    return err;
}

int lab_machine_node_cpus(unsigned node, unsigned *cpus, size_t room, size_t *n_cpus)
{
    char path[128];
    char line[4096];

    snprintf(path, sizeof(path), NODE_DIR "/node%u/cpulist", node);
    if (!read_line(path, line, sizeof(line)))
        /* A kernel without NUMA has no such files: everything is node 0. */
        return node == 0 ? lab_machine_cpus(cpus, room, n_cpus) : -ENOENT;
    *n_cpus = 0;
    return line[0] == '\0' ? 0 : lists_parse_ids(line, MOST_CPUS - 1, cpus, room, n_cpus);
}

void lab_machine_nodes_text(char *text, size_t room)
{
    if (!read_line(NODE_DIR "/online", text, room))
        snprintf(text, room, "0");
}

uint64_t lab_machine_available_bytes(void)
{
    char value[64];
    if (!read_field("/proc/meminfo", "MemAvailable", value, sizeof(value)))
        return 0;
    return strtoull(value, NULL, 10) * 1024;
}

void lab_clock_start(struct lab_clock *c)
{
    c->ns = ticks_now_ns();
    c->ticks = ticks_now();
}

double lab_clock_tick_ns(const struct lab_clock *c)
{
    while (ticks_now_ns() - c->ns < CALIBRATION_NS)
        usleep(1000);
    const uint64_t ns = ticks_now_ns();
    const uint64_t ticks = ticks_now();
    return (double)(ns - c->ns) / (double)(ticks - c->ticks);
}
