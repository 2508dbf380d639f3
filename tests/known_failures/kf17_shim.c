/* SPDX-License-Identifier: MIT */
/* Preloaded to lie about CPUs: KF17_CPU is the number of the running CPU, KF17_COUNT the number of
 * CPUs, and any set, empty or not, given to sched_getaffinity() is too small. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Read once: an allocator may ask before the C library is fully there. */
static int value_of(const char *name, int otherwise)
{
    extern char **environ;

    for (char **e = environ; e != NULL && *e != NULL; e++) {
        const char *v = *e, *n = name;

        while (*n != 0 && *v == *n) {
            v++;
            n++;
        }
        if (*n == 0 && *v == '=')
            return atoi(v + 1);
    }
    return otherwise;
}

int sched_getcpu(void)
{
    return value_of("KF17_CPU", 0);
}

int getcpu(unsigned *cpu, unsigned *node)
{
    if (cpu != NULL)
        *cpu = (unsigned)value_of("KF17_CPU", 0);
    if (node != NULL)
        *node = 0;
    return 0;
}

long sysconf(int name)
{
    if (name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN)
        return value_of("KF17_COUNT", 1);
    return name == _SC_PAGESIZE ? getpagesize() : -1;
}

int get_nprocs(void)
{
    return value_of("KF17_COUNT", 1);
}

int get_nprocs_conf(void)
{
    return value_of("KF17_COUNT", 1);
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    (void)size;
    (void)set;
    errno = EINVAL;
    return -1;
}
