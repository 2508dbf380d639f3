/* SPDX-License-Identifier: MIT */
/* Options: one struct made from options.def, filled from a kernel-style string.
 *
 * Layer: L2; read by all above. Locking: written before the allocator is in use, constant afterwards. */
#ifndef SLUB_SERVICE_OPTIONS_H
#define SLUB_SERVICE_OPTIONS_H

#include "base/compiler.h"

#define OPTION_TEXT_MAX 256

struct slub_options {
#define OPTION_FIELD_BOOL(id) uint64_t id;
#define OPTION_FIELD_UINT(id) uint64_t id;
#define OPTION_FIELD_ENUM(id) uint64_t id;
#define OPTION_FIELD_FLAG(id) uint64_t id;
#define OPTION_FIELD_TEXT(id) char id[OPTION_TEXT_MAX];
#define OPTION(id, name, type, def, min, max, unit, stability, help) OPTION_FIELD_##type(id)
#include "service/options.def"
#undef OPTION
};
extern struct slub_options options;

/* Words of the ENUM options, in the order of the table. */
enum { MODE_DEFAULT, MODE_FAST };
enum { PERCPU_AUTO, PERCPU_RSEQ, PERCPU_THREAD, PERCPU_LOCK };
enum { RANDOM_OFF, RANDOM_KEYED, RANDOM_STRONG };
enum { THP_NEVER, THP_MADVISE };

/* Apply a string. Words that are unknown or malformed are named on stderr, one line each, and skipped.
 * Returns how many. */
int options_parse(const char *string);

/* Apply SLUB_OPTIONS of the environment, once, unless the program is privileged (AT_SECURE). */
void options_parse_environment(char **environment);

#endif
