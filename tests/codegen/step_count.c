/* SPDX-License-Identifier: MIT */
/* Instructions that malloc and free of an allocator execute, the jump of the PLT included: a child that it was
 * preloaded into is single-stepped through calls, and the least count of each is printed. Not for slub, whose
 * restartable sequences are aborted by each step: count_fastpath.py reads those.
 *
 * usage: step_count SIZE [LIBRARY] */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WARM = 2000, CALLS = 64, MOST = 100000 };

/* Code of this program that does not count. The linker names both ends of the section. */
#define OWN __attribute__((noinline, section("own_code")))
extern const char __start_own_code[], __stop_own_code[];

/* A stop before and behind each call; between them the tracer steps. */
#define MARK() __asm__ volatile("int3" : : : "memory")

OWN static void calls(void **p, size_t size)
{
    for (size_t i = 0; i < CALLS; i++) {
        MARK();
        p[i] = malloc(size);
        MARK();
    }
    for (size_t i = CALLS; i-- > 0;) {
        MARK();
        free(p[i]);
        MARK();
    }
}

static int child(size_t size)
{
    static void *p[WARM];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < WARM; i++)
            p[i] = malloc(size);
        for (size_t i = 0; i < WARM; i++)
            free(p[i]);
    }
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    calls(p, size);
    return 0;
}

static bool stopped(pid_t pid)
{
    int status;
    return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);
}

/* Instructions outside of this program's own code from one mark to the next; -1 when the child ended. */
static long count(pid_t pid)
{
    struct user_regs_struct regs;
    siginfo_t si;
    for (long n = 0; n < MOST;) {
        if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
            return -1;
        n += regs.rip - (uintptr_t)__start_own_code >= (uintptr_t)(__stop_own_code - __start_own_code);
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0 || !stopped(pid) ||
            ptrace(PTRACE_GETSIGINFO, pid, NULL, &si) != 0)
            return -1;
        if (si.si_code == SI_KERNEL) /* int3; a step is TRAP_TRACE */
            return n;
    }
    return -1;
}

int main(int argc, char **argv)
{
    long least[2] = {MOST, MOST};
    if (argc == 3 && strcmp(argv[1], "--child") == 0)
        return child(strtoul(argv[2], NULL, 10));
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: step_count SIZE [LIBRARY]\n");
        return 2;
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (argc == 3)
            setenv("LD_PRELOAD", argv[2], 1);
        setenv("LD_BIND_NOW", "1", 1);
        execl("/proc/self/exe", "step_count", "--child", argv[1], (char *)NULL);
        _exit(127);
    }
    bool ok = stopped(pid);
    for (int op = 0; op < 2 && ok; op++)
        for (int i = 0; i < CALLS && ok; i++) {
            ok = ptrace(PTRACE_CONT, pid, NULL, NULL) == 0 && stopped(pid); /* at the mark before */
            long n = ok ? count(pid) : -1;
            ok = n >= 0;
            if (ok && n < least[op])
                least[op] = n;
        }
    kill(pid, SIGKILL);
    if (!ok) {
        fprintf(stderr, "step_count: the child could not be traced to its end\n");
        return 1;
    }
    printf("malloc %ld free %ld\n", least[0], least[1]);
    return 0;
}
