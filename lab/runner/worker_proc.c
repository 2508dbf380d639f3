/* SPDX-License-Identifier: MIT */
/* Owns the processes of a run: fork, exec, the channel, and what their end means. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/worker_proc.h"

#include "workloads/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longest wait for a worker that only has to read its memory and exit. */
#define FINISH_TIMEOUT_S 60u

/* The child's side: two descriptors in their places, everything else as the command has it. */
static _Noreturn void run_child(char *const *argv, char *const *env, int result_fd, int channel_fd,
                                pid_t parent)
{
    /* Out of the way of the fixed numbers first. */
    const int result = fcntl(result_fd, F_DUPFD, SLAB_FD_CHANNEL + 1);
    const int channel = fcntl(channel_fd, F_DUPFD, SLAB_FD_CHANNEL + 1);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || result < 0 || channel < 0 || dup2(result, SLAB_FD_RESULT) < 0 ||
        dup2(channel, SLAB_FD_CHANNEL) < 0)
        _exit(126);
    close(result);
    close(channel);
    execve(argv[0], argv, env);
    _exit(127);
}

int lab_worker_start(struct lab_worker *w, char *const *argv, char *const *env,
                     const struct lab_shape *shape)
{
    int channel[2] = {-1, -1};
    int err = 0;
    const pid_t parent = getpid();

    memset(w, 0, sizeof(*w));
    w->channel = -1;
    w->shared_bytes =
        slab_wire_bytes(shape->n_sizes, shape->n_lanes, shape->n_columns, shape->n_repeats);
    const int fd = memfd_create("slub-bench", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t)w->shared_bytes) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) {
        err = -errno;
        goto done;
    }
    w->shared = mmap(NULL, w->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (w->shared == MAP_FAILED) {
        w->shared = NULL;
        err = -errno;
        goto done;
    }
    struct slab_wire_head *head = w->shared;
    memcpy(head->magic, SLAB_WIRE_MAGIC, sizeof(head->magic));
    head->version = SLAB_WIRE_VERSION;
    head->n_sizes = shape->n_sizes;
    head->n_lanes = shape->n_lanes;
    head->n_columns = shape->n_columns;
    head->n_repeats = shape->n_repeats;

    const pid_t pid = fork();
    if (pid == 0)
        run_child(argv, env, fd, channel[1], parent);
    if (pid < 0) {
        err = -errno;
    } else {
        w->pid = pid;
        w->channel = channel[0];
        channel[0] = -1;
    }
done:
    close(fd);
    if (channel[0] >= 0)
        close(channel[0]);
    if (channel[1] >= 0)
        close(channel[1]);
    if (err != 0)
        lab_worker_release(w);
    return err;
}

/* The worker has ended or is ended here; says how. */
static void explain_end(struct lab_worker *w, char *why, size_t room)
{
    const struct slab_wire_head *head = w->shared;
    int status = 0;
    const pid_t pid = waitpid(w->pid, &status, 0);

    w->pid = 0;
    if (head->state == SLAB_STATE_REFUSED || head->state == SLAB_STATE_FAILED)
        snprintf(why, room, "%.*s", (int)sizeof(head->message), head->message);
    else if (pid > 0 && WIFSIGNALED(status))
        snprintf(why, room, "the worker was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        snprintf(why, room, "the worker cannot be executed");
    else
        snprintf(why, room, "the worker ended early with status %d",
                 pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int lab_worker_wait_measured(struct lab_worker *w, unsigned timeout_s, char *why, size_t room)
{
    struct pollfd p = {.fd = w->channel, .events = POLLIN};
    char byte;
    int n;

    do
        n = poll(&p, 1, (int)timeout_s * 1000);
    while (n < 0 && errno == EINTR);
    if (n == 0) {
        snprintf(why, room, "the worker did not end within %u s (--timeout)", timeout_s);
        return -1;
    }
    if (n > 0 && read(w->channel, &byte, 1) == 1) {
        w->measured_ns = ticks_now_ns();
        return 0;
    }
    explain_end(w, why, room);
    return -1;
}

int lab_worker_finish(struct lab_worker *w, char *why, size_t room)
{
    struct pollfd p = {.fd = w->channel, .events = POLLIN};
    char byte = 'g';
    int status = 0;
    int n;

    (void)!send(w->channel, &byte, 1, MSG_NOSIGNAL);
    do
        n = poll(&p, 1, (int)(FINISH_TIMEOUT_S * 1000)); /* its end of the channel closes at exit */
    while (n < 0 && errno == EINTR);
    if (n == 0) {
        snprintf(why, room, "the worker hangs at its exit");
        return -1;
    }
    const pid_t pid = waitpid(w->pid, &status, 0);
    w->pid = 0;
    if (pid > 0 && WIFSIGNALED(status)) {
        snprintf(why, room, "the worker was killed at its exit by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
        return -1;
    }
    if (pid < 0 || WEXITSTATUS(status) != 0) {
        snprintf(why, room, "the worker failed at its exit with status %d", WEXITSTATUS(status));
        return -1;
    }
    return 0;
}

void lab_worker_release(struct lab_worker *w)
{
    if (w->pid > 0) {
        kill(w->pid, SIGKILL);
        waitpid(w->pid, NULL, 0);
    }
    if (w->shared != NULL) {
        munmap(w->shared, w->shared_bytes);
        if (w->channel >= 0)
            close(w->channel);
    }
    memset(w, 0, sizeof(*w));
    w->channel = -1;
}
