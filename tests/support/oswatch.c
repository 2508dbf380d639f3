/* SPDX-License-Identifier: MIT */
/* Supervisor of memory calls by seccomp user notification. Contract: oswatch.h. */
#include "oswatch.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int listener = -1;
static atomic_bool is_ready;
static atomic_ulong n_calls, n_failed, fail_at;
static atomic_bool fail_forever;

static bool must_fail(void)
{
    unsigned long nth = atomic_load(&fail_at), call = atomic_fetch_add(&n_calls, 1) + 1;

    if (nth == 0 || call < nth || (call > nth && !atomic_load(&fail_forever)))
        return false;
    atomic_fetch_add(&n_failed, 1);
    return true;
}

/* The supervisor was started before the filter, so its own calls are not watched. It allocates
 * nothing. */
static void *supervise(void *unused)
{
    struct seccomp_notif call;
    struct seccomp_notif_resp answer;
    int fd;

    (void)unused;
    atomic_store(&is_ready, true);
    while ((fd = atomic_load(&listener)) == -1)
        usleep(50);
    while (fd >= 0) {
        memset(&call, 0, sizeof call);
        memset(&answer, 0, sizeof answer);
        if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
            if (errno == EINTR || errno == ENOENT)
                continue;
            break;
        }
        answer.id = call.id;
        if (must_fail())
            answer.error = -ENOMEM;
        else
            answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    return NULL;
}

static int install_filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

bool oswatch_start(const char **why)
{
    static char stack[64 * 1024] __attribute__((aligned(64)));
    pthread_attr_t attr;
    pthread_t thread;
    int fd, err;

    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, sizeof stack);
    err = pthread_create(&thread, &attr, supervise, NULL);
    pthread_attr_destroy(&attr);
    if (err != 0) {
        *why = "no supervisor thread";
        return false;
    }
    while (!atomic_load(&is_ready))
        usleep(50);
    fd = install_filter();
    if (fd < 0) {
        *why = "the kernel refuses seccomp user notification";
        atomic_store(&listener, -2);
        return false;
    }
    atomic_store(&listener, fd);
    return true;
}

unsigned long oswatch_calls(void)
{
    return atomic_load(&n_calls);
}

void oswatch_fail(unsigned long nth, bool forever)
{
    atomic_store(&fail_at, 0);
    atomic_store(&fail_forever, forever);
    atomic_store(&n_calls, 0);
    atomic_store(&fail_at, nth);
}

unsigned long oswatch_failed(void)
{
    return atomic_load(&n_failed);
}
