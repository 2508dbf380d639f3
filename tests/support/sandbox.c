/* SPDX-License-Identifier: MIT */
/* seccomp filters for tests. Contract: sandbox.h. */
#include "sandbox.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_CALLS = 64, EXIT_FORBIDDEN = 31 };

/* Programs are: load the number, one comparison per call, the action when none fits, the action of
 * the list. */
static bool install(const int *calls, size_t n, unsigned when_listed, unsigned otherwise)
{
    struct sock_filter code[MOST_CALLS + 3];
    struct sock_fprog program = {.len = (unsigned short)(n + 3), .filter = code};

    if (n > MOST_CALLS)
        return false;
    code[0] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < n; i++)
        code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i],
                                                   (unsigned char)(n - i), 0);
    code[1 + n] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
    code[2 + n] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, when_listed);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

static void on_forbidden(int signo, siginfo_t *info, void *context)
{
    char text[80];
    int n = snprintf(text, sizeof text, "forbidden system call %d\n", info->si_syscall);

    (void)signo;
    (void)context;
    if (write(2, text, (size_t)n) < 0)
        _exit(EXIT_FORBIDDEN + 1);
    _exit(EXIT_FORBIDDEN);
}

bool sandbox_allow_only(const int *calls, size_t n)
{
    struct sigaction action = {.sa_sigaction = on_forbidden, .sa_flags = SA_SIGINFO};

    sigaction(SIGSYS, &action, NULL);
    return install(calls, n, SECCOMP_RET_ALLOW, SECCOMP_RET_TRAP);
}

bool sandbox_refuse(const int *calls, size_t n, int err)
{
    return install(calls, n, SECCOMP_RET_ERRNO | (unsigned)err, SECCOMP_RET_ALLOW);
}
