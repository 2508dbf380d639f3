/* SPDX-License-Identifier: MIT */
/* Children with a time limit: functions run in a fork, programs run by exec. Contract: testkit.h.
 */
#include "testkit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Wait for a child that leads its own process group; kill the group when it is late. */
static int wait_limited(pid_t pid, double limit_s)
{
    double end = tk_now() + limit_s;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    int status;

    if (fd >= 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int got;

        do {
            double left = end - tk_now();
            got = poll(&p, 1, left > 0 ? (int)(left * 1000) + 1 : 0);
        } while (got < 0 && errno == EINTR);
        close(fd);
        if (got == 1) {
            waitpid(pid, &status, 0);
            return status;
        }
    } else {
        while (tk_now() < end) {
            if (waitpid(pid, &status, WNOHANG) == pid)
                return status;
            tk_sleep(0.002);
        }
    }
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return -1;
}

int tk_child_status(void (*fn)(void *), void *arg, double limit_s)
{
    pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        fn(arg);
        _exit(0);
    }
    if (pid < 0) {
        tk_check(false, "fork: errno %d", errno);
        return -1;
    }
    return wait_limited(pid, limit_s);
}

bool tk_child(const char *part, void (*fn)(void *), void *arg, double limit_s)
{
    int status = tk_child_status(fn, arg, limit_s);

    return tk_check(tk_status_ok(status), "%s: ended with %s", part, tk_status_text(status));
}

static void set_environment(const char *const *env)
{
    for (; env != NULL && *env != NULL; env++) {
        const char *eq = strchr(*env, '=');
        char name[64];

        if (eq == NULL) {
            unsetenv(*env);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(eq - *env), *env);
        setenv(name, eq + 1, 1);
    }
}

void tk_run(struct tk_exec *e)
{
    double end = tk_now() + e->limit_s;
    char sink[512];
    int ends[2];
    pid_t pid;

    e->n_out = 0;
    e->out[0] = 0;
    e->status = -1;
    if (!tk_check(pipe(ends) == 0, "pipe: errno %d", errno))
        return;
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        set_environment(e->env);
        if (e->before != NULL)
            e->before(e->arg);
        execv(e->argv[0], (char *const *)(uintptr_t)e->argv);
        _exit(126);
    }
    close(ends[1]);
    if (!tk_check(pid > 0, "fork: errno %d", errno)) {
        close(ends[0]);
        return;
    }
    for (;;) {
        struct pollfd p = {.fd = ends[0], .events = POLLIN};
        size_t room = sizeof e->out - 1 - e->n_out;
        bool keep = e->n_out < sizeof e->out - 1;
        double left = end - tk_now();
        ssize_t n;

        if (left <= 0 || poll(&p, 1, (int)(left * 1000) + 1) == 0)
            break;
        n = read(ends[0], keep ? e->out + e->n_out : sink, keep ? room : sizeof sink);
        if (n <= 0)
            break;
        if (keep)
            e->n_out += (size_t)n;
    }
    e->out[e->n_out] = 0;
    close(ends[0]);
    e->status = wait_limited(pid, end - tk_now());
}

const char *tk_status_text(int status)
{
    static char text[32];

    if (status == -1)
        return "the time limit";
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "signal %d", WTERMSIG(status));
    else
        snprintf(text, sizeof text, "exit %d", WEXITSTATUS(status));
    return text;
}
