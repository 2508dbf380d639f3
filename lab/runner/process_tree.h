/* SPDX-License-Identifier: MIT */
/* A command with all the processes that it starts: the memory of those that carry the mark, and
 * which malloc they had.
 */
#ifndef SLUB_LAB_PROCESS_TREE_H
#define SLUB_LAB_PROCESS_TREE_H

#include <stdint.h>
#include <sys/types.h>

/* In the environment of a process at its start: it and what it forks is measured. */
#define PROCESS_TREE_MARK "SLUB_PROGRAM_MEASURED=1"

struct process_tree {
    int status; /* of the command, as waitpid() gives it */
    uint64_t wall_ns;
    uint64_t cpu_ns;       /* of all processes, measured or not */
    uint64_t peak_bytes;   /* VmHWM of the largest measured process */
    char peak_program[16]; /* its name */
    unsigned n_measured;   /* processes with the mark that ended by themselves */
};

/* Called for every measured process when it is about to end, stopped. */
typedef void process_tree_look(pid_t pid, void *context);

/* Runs argv[0], standard output and error to @log_fd, and waits until every process of it has
 * ended; ends them when that takes longer than @timeout_s. @look may be NULL. 0 or negative errno;
 * -ETIMEDOUT. */
int process_tree_run(struct process_tree *tree, char *const *argv, char *const *env, int log_fd,
                     unsigned timeout_s, process_tree_look *look, void *context);

#endif
