/* SPDX-License-Identifier: MIT */
/* Owns the start of one measured process: a small static program between the runner and what is measured.
 *
 * The kernel counts the memory of the process that forks into the peak of the one that was forked; this one has next to
 * none. It is static, so that no preload of the measured program reaches it, and nothing but fork, exec and wait lies
 * between its two looks at the clock.
 *
 * usage: slub-bench-start REPORT_FD TIMEOUT_S CPUS PATH ARGV...    CPUS: "-" or "0,1,…"
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/start_report.h"
#include "workloads/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t is_late;
static pid_t child;

static void on_alarm(int signal_number)
{
    (void)signal_number;
    is_late = 1;
    kill(-child, SIGKILL);
}

static void pin(const char *cpus)
{
    cpu_set_t set;

    if (strcmp(cpus, "-") == 0)
        return;
    CPU_ZERO(&set);
    for (const char *p = cpus; *p != '\0'; p += strcspn(p, ",") + (strchr(p, ',') != NULL ? 1 : 0))
        CPU_SET(atoi(p), &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

static _Noreturn void become(const char *path, char **argv, const char *cpus, int error_fd)
{
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int old = personality(0xffffffff);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    dup2(null_fd, STDIN_FILENO);
    pin(cpus);
    if (old != -1 && (old & ADDR_NO_RANDOMIZE) != 0)
        personality((unsigned long)(old & ~ADDR_NO_RANDOMIZE)); /* a debugger's shell has it */
    execve(path, argv, environ);
    const int err = errno;
    (void)!write(error_fd, &err, sizeof(err));
    _exit(127);
}

static uint64_t ns_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void fill(struct start_report *r, const struct rusage *u)
{
    r->user_ns = ns_of(u->ru_utime);
    r->system_ns = ns_of(u->ru_stime);
    r->peak_bytes = (uint64_t)u->ru_maxrss * 1024;
    r->minor_faults = (uint64_t)u->ru_minflt;
    r->major_faults = (uint64_t)u->ru_majflt;
    r->voluntary_switches = (uint64_t)u->ru_nvcsw;
    r->forced_switches = (uint64_t)u->ru_nivcsw;
}

int main(int argc, char **argv)
{
    struct start_report report = {0};
    struct rusage usage;
    int error_pipe[2];
    int status = 0;

    if (argc < 6 || pipe2(error_pipe, O_CLOEXEC) != 0)
        return 2;
    const int report_fd = atoi(argv[1]);
    fcntl(report_fd, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN); /* the terminal's; the runner ends what it started */
    const uint64_t started_ns = ticks_now_ns();
    child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        become(argv[4], argv + 5, argv[3], error_pipe[1]);
    }
    if (child < 0)
        return 2;
    signal(SIGALRM, on_alarm);
    alarm((unsigned)atoi(argv[2]));
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        continue;
    report.wall_ns = ticks_now_ns() - started_ns;
    alarm(0);
    kill(-child, SIGKILL); /* whatever it left behind would disturb the next */
    close(error_pipe[1]);
    if (read(error_pipe[0], &report.exec_errno, sizeof(report.exec_errno)) < 0)
        report.exec_errno = errno;
    report.status = status;
    report.is_late = is_late;
    fill(&report, &usage);
    return write(report_fd, &report, sizeof(report)) == (ssize_t)sizeof(report) ? 0 : 2;
}
