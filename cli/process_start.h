/* SPDX-License-Identifier: MIT */
/* Running a program and looking into it at the moment when it ends. */
#ifndef SLUB_CLI_PROCESS_START_H
#define SLUB_CLI_PROCESS_START_H

#include "process_view.h"

/* Executes @path with the environment of this process and waits for its end; @quiet sends its
 * standard output to standard error. Just before its memory goes away the process is read into
 * @view. 0, or -1 with one line. */
int process_start_and_view(const char *path, char **argv, bool quiet, struct process_view *view,
                           char *why, size_t room);

#endif
