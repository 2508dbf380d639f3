/* SPDX-License-Identifier: MIT */
/* Owns the watch over a tree of processes, by ptrace.
 *
 * Every process stops once when it starts a program and once when it ends; there its memory still
 * is as it was, which getrusage() does not offer: that also counts the memory of the process that
 * forked it. Nothing else stops it, so the watch costs the same under every allocator.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/process_tree.h"

#include "workloads/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_TASKS 4096 /* alive at a time */

struct task {
    pid_t tid; /* 0: free */
    bool is_measured;
};

struct watch {
    struct process_tree *tree;
    process_tree_look *look;
    void *context;
    struct task tasks[MOST_TASKS];
};

struct task_status {
    pid_t tgid;
    pid_t parent;
    uint64_t peak_bytes;
    char name[16];
};

static struct task_status read_status(pid_t tid)
{
    struct task_status s = {0};
    unsigned long long kib = 0;
    char path[64];
    char line[256];

    snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        (void)sscanf(line, "Name: %15s", s.name);
        (void)sscanf(line, "Tgid: %d", &s.tgid);
        (void)sscanf(line, "PPid: %d", &s.parent);
        (void)sscanf(line, "VmHWM: %llu", &kib);
    }
    if (f != NULL)
        fclose(f);
    s.peak_bytes = kib * 1024;
    return s;
}

static struct task *find(struct watch *w, pid_t tid)
{
    for (size_t i = 0; i < MOST_TASKS; i++) {
        if (w->tasks[i].tid == tid)
            return &w->tasks[i];
    }
    return NULL;
}

/* A task is met before the one that made it goes on: its line of descent can be read. */
static struct task *meet(struct watch *w, pid_t tid)
{
    struct task *t = find(w, tid);
    if (t != NULL)
        return t;
    t = find(w, 0);
    if (t == NULL)
        return NULL;
    const struct task_status s = read_status(tid);
    const struct task *from = find(w, s.tgid != tid ? s.tgid : s.parent);
    t->tid = tid;
    t->is_measured = from != NULL && from->is_measured;
    return t;
}

static bool has_mark(pid_t pid)
{
    char path[64];
    char *word = NULL;
    size_t room = 0;
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    FILE *f = fopen(path, "re");
    while (f != NULL && !found && getdelim(&word, &room, '\0', f) > 0)
        found = strcmp(word, PROCESS_TREE_MARK) == 0;
    free(word);
    if (f != NULL)
        fclose(f);
    return found;
}

static void about_to_end(struct watch *w, const struct task *t)
{
    const struct task_status s = read_status(t->tid);

    /* The first thread speaks for its process. A killed one has no memory any more. */
    if (!t->is_measured || s.tgid != t->tid || s.peak_bytes == 0)
        return;
    w->tree->n_measured++;
    if (s.peak_bytes > w->tree->peak_bytes) {
        w->tree->peak_bytes = s.peak_bytes;
        memcpy(w->tree->peak_program, s.name, sizeof(s.name));
    }
    if (w->look != NULL)
        w->look(t->tid, w->context);
}

static void go_on(struct watch *w, struct task *t, int status)
{
    const int stop_signal = WSTOPSIG(status);

    switch (status >> 16) {
    case 0:
        (void)ptrace(PTRACE_CONT, t->tid, NULL, (void *)(intptr_t)stop_signal);
        return;
    case PTRACE_EVENT_EXEC:
        t->is_measured = has_mark(t->tid);
        break;
    case PTRACE_EVENT_EXIT:
        about_to_end(w, t);
        break;
    case PTRACE_EVENT_STOP:
        if (stop_signal != SIGTRAP) {
            (void)ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
            return;
        }
        break;
    default:
        break;
    }
    (void)ptrace(PTRACE_CONT, t->tid, NULL, NULL);
}

static volatile sig_atomic_t is_late;

static void on_alarm(int signal_number)
{
    (void)signal_number;
    is_late = 1;
}

static void end_all(const struct watch *w)
{
    for (size_t i = 0; i < MOST_TASKS; i++) {
        if (w->tasks[i].tid != 0)
            kill(w->tasks[i].tid, SIGKILL);
    }
}

static int watch_all(struct watch *w, pid_t command, uint64_t started_ns)
{
    bool was_late = false;

    for (;;) {
        int status;
        if (is_late && !was_late) {
            was_late = true;
            end_all(w);
        }
        const pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0 && errno == EINTR)
            continue;
        if (tid < 0)
            break;
        struct task *t = meet(w, tid);
        if (WIFSTOPPED(status)) {
            if (t == NULL) {
                kill(tid, SIGKILL);
                is_late = 1;
            } else {
                go_on(w, t, status);
            }
            continue;
        }
        if (t != NULL)
            t->tid = 0;
        if (tid == command) {
            w->tree->status = status;
            w->tree->wall_ns = ticks_now_ns() - started_ns;
        }
    }
    return was_late ? -ETIMEDOUT : 0;
}

static _Noreturn void become(char *const *argv, char *const *env, int go_fd, int log_fd)
{
    char byte;
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (read(go_fd, &byte, 1) == 1 && dup2(null_fd, STDIN_FILENO) >= 0 &&
        dup2(log_fd, STDOUT_FILENO) >= 0 && dup2(log_fd, STDERR_FILENO) >= 0)
        execve(argv[0], argv, env);
    _exit(127);
}

static uint64_t children_ns(void)
{
    struct rusage u;
    (void)getrusage(RUSAGE_CHILDREN, &u);
    return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000u +
           (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000u;
}

static int start(struct watch *w, char *const *argv, char *const *env, int log_fd,
                 unsigned timeout_s)
{
    const long events = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                        PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
    int go[2];

    if (pipe2(go, O_CLOEXEC) != 0)
        return -errno;
    const uint64_t cpu_before_ns = children_ns();
    const pid_t command = fork();
    if (command == 0)
        become(argv, env, go[0], log_fd);
    int err = command < 0 ? -errno : 0;
    if (err == 0 && ptrace(PTRACE_SEIZE, command, NULL, (void *)events) != 0) {
        err = -errno;
        kill(command, SIGKILL);
        waitpid(command, NULL, 0);
    }
    if (err == 0) {
        is_late = 0;
        alarm(timeout_s);
        const uint64_t started_ns = ticks_now_ns();
        if (write(go[1], "", 1) != 1)
            kill(command, SIGKILL);
        err = watch_all(w, command, started_ns);
        alarm(0);
        w->tree->cpu_ns = children_ns() - cpu_before_ns;
    }
    close(go[0]);
    close(go[1]);
    return err;
}

int process_tree_run(struct process_tree *tree, char *const *argv, char *const *env, int log_fd,
                     unsigned timeout_s, process_tree_look *look, void *context)
{
    struct watch *w = calloc(1, sizeof(*w));
    struct sigaction on = {.sa_handler = on_alarm}; /* no restart: waiting is to end */
    struct sigaction old;

    if (w == NULL)
        return -ENOMEM;
    memset(tree, 0, sizeof(*tree));
    w->tree = tree;
    w->look = look;
    w->context = context;
    sigaction(SIGALRM, &on, &old);
    const int err = start(w, argv, env, log_fd, timeout_s);
    sigaction(SIGALRM, &old, NULL);
    free(w);
    return err;
}
