/* SPDX-License-Identifier: MIT */
/* seccomp filters for tests, without libseccomp. A filter stays for the life of the process and
 * over exec. */
#ifndef SLUB_TESTS_SANDBOX_H
#define SLUB_TESTS_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* Every system call not in the list ends the process with status 31 and one line that names its
 * number. For all threads of the process. False where the kernel refuses. */
bool sandbox_allow_only(const int *calls, size_t n);

/* The listed calls fail with `err`; all others work. */
bool sandbox_refuse(const int *calls, size_t n, int err);

#endif
