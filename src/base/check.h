/* SPDX-License-Identifier: MIT */
/* Reports of misuse and assertions.
 *
 * Layer: L0. A report is one line, built on the stack and written by write(2): nothing is allocated and no
 * lock is taken, so it works in any state. Assertions: SLUB_VERIFY is always on; SLUB_ASSERT from
 * SLUB_CHECK >= 1. Disabled forms still type-check their expression. */
#ifndef SLUB_BASE_CHECK_H
#define SLUB_BASE_CHECK_H

#include "base/compiler.h"

#ifndef SLUB_CHECK
#define SLUB_CHECK 0
#endif

/* A bounded text under construction; what does not fit is dropped. */
struct text {
    char *t_buf;
    size_t t_len, t_size;
};
void text_str(struct text *t, const char *s);
void text_dec(struct text *t, uint64_t v);
void text_hex(struct text *t, uint64_t v);
void text_pad_to(struct text *t, size_t column); /* blanks up to a column of the current line */

/* Remember whether fd 2 is the standard error that the program was started with: when it was closed, a file
 * of the program may get its number, and reports must not go there. */
void check_init_stderr(void);

/* Write to fd 2 unless check_init_stderr() found it closed. */
void check_write_stderr(const char *buf, size_t len);

/* "slub: BUG <kind>: <call>(0x<addr>) cache=<name> size=<bytes> tid=<tid>" and SIGABRT. */
SLUB_SLOW void check_report_bug(const char *kind, const char *call, const void *addr, const char *cache,
                                size_t size) __attribute__((noreturn));

/* "slub: <what>: <detail>" on stderr; for set-up mistakes. The program goes on. */
SLUB_SLOW void check_report_line(const char *what, const char *detail, size_t detail_len);

SLUB_SLOW void check_failed(const char *expr, const char *file, int line) __attribute__((noreturn));

#define SLUB_VERIFY(x) (likely(x) ? (void)0 : check_failed(#x, __FILE__, __LINE__))
#if SLUB_CHECK >= 1
#define SLUB_ASSERT(x) SLUB_VERIFY(x)
#else
#define SLUB_ASSERT(x) ((void)sizeof(x))
#endif

#endif
