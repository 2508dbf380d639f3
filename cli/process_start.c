/* SPDX-License-Identifier: MIT */
/* Owns the run of a program that is asked at its end, by ptrace(2): the kernel stops it in exit,
 * memory intact.
 *
 * Nothing else of the program is traced, neither its other threads nor its children, and signals go
 * through.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "process_start.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Statuses of the child before exec, beside those of exec itself. */
#define CHILD_NOT_TRACED 125

static _Noreturn void run_child(const char *path, char **argv, bool quiet)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(CHILD_NOT_TRACED);
    if (quiet)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    raise(SIGSTOP); /* until the parent has set its options */
    execvp(path, argv);
    _exit(errno == ENOENT ? 127 : 126);
}

static int wait_for(pid_t pid, int *status)
{
    pid_t got;
    do
        got = waitpid(pid, status, 0);
    while (got < 0 && errno == EINTR);
    return got == pid ? 0 : -errno;
}

static bool is_event(int status, int event)
{
    return status >> 8 == (SIGTRAP | (event << 8));
}

/* Signal to hand on when the stop was a signal's and no event. */
static int signal_of(int status)
{
    return status >> 16 != 0 ? 0 : WSTOPSIG(status);
}

static int explain_early_end(const char *path, int status, char *why, size_t room)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_NOT_TRACED)
        snprintf(why, room,
                 "ptrace is not permitted here: start the program by slub run and use -p");
    else if (WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127))
        snprintf(why, room, "cannot execute '%s'", path);
    else
        snprintf(why, room, "'%s' ended before it could be asked", path);
    return -1;
}

int process_start_and_view(const char *path, char **argv, bool quiet, struct process_view *view,
                           char *why, size_t room)
{
    int status = 0;
    bool has_view = false;
    int result = -1;

    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        run_child(path, argv, quiet);
    if (pid < 0 || wait_for(pid, &status) != 0) {
        snprintf(why, room, "cannot start '%s': %s", path, strerror(errno));
        return -1;
    }
    if (!WIFSTOPPED(status))
        return explain_early_end(path, status, why, room);
    if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
               (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC)) != 0 ||
        ptrace(PTRACE_CONT, pid, NULL, NULL) != 0) {
        snprintf(why, room, "cannot trace '%s': %s", path, strerror(errno));
        kill(pid, SIGKILL);
        wait_for(pid, &status);
        return -1;
    }
    bool has_started = false;
    while (wait_for(pid, &status) == 0 && WIFSTOPPED(status)) {
        has_started |= is_event(status, PTRACE_EVENT_EXEC);
        if (is_event(status, PTRACE_EVENT_EXIT) && has_started) {
            result = process_view_read(view, pid, why, room);
            has_view = true;
        }
        ptrace(PTRACE_CONT, pid, NULL, (void *)(long)signal_of(status));
    }
    return has_view ? result : explain_early_end(path, status, why, room);
}
