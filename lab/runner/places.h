/* SPDX-License-Identifier: MIT */
/* Where the libraries and helper programs of this installation are. */
#ifndef SLUB_LAB_PLACES_H
#define SLUB_LAB_PLACES_H

#include <stddef.h>

/* Path of a library of ours, relative to the running command: "../lib", "../lib/<multiarch>" and
 * the library directory of the build; the environment's SLUB_LIBDIR replaces them all. Returns 0
 * and an absolute path, or -ENOENT and in @path, as text, the directories that were tried. */
int places_find_library(const char *name, char *path, size_t room);

/* Path of a helper program or private library, beside the command or in "../libexec/slub". */
int places_find_helper(const char *name, char *path, size_t room);

/* Path of another project's library: LD_LIBRARY_PATH, then the system's directories. @name may be a
 * glob pattern; the last match in order of version wins. */
int places_find_foreign(const char *name, char *path, size_t room);

/* Path of the C library that this process runs on. */
int places_find_libc(char *path, size_t room);

#endif
