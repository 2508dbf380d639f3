/* SPDX-License-Identifier: MIT */
/* What the allocator-agnostic test programs share: one result line, children with a time limit, and
 * measurements of the process. Nothing here allocates, so it can judge any malloc.
 *
 * A program calls tk_init(), runs its parts with tk_child() or tk_run(), and returns tk_finish().
 * It prints one line on stdout, "<id> <what>: <notes>", reasons of failure on stderr, and exits 0,
 * 1, or 77 (skipped). Notes and checks made in a child reach the parent through shared memory, also
 * when the child dies. */
#ifndef SLUB_TESTS_TESTKIT_H
#define SLUB_TESTS_TESTKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process_watch.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TK_MIB          (1024.0 * 1024.0)
#define TK_FORMAT(a, b) __attribute__((format(printf, a, b)))

/* A size or an address that the compiler must take as it is, without knowing where it came from. */
static inline size_t tk_opaque(size_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}

/* Stores to *p have happened as far as the compiler knows: it may not drop the block. */
static inline void tk_keep(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* `id` as in "kf01". The argument "full" asks for the long form. */
void tk_init(const char *id, const char *what, int argc, char **argv);
bool tk_full(void);

/* Length of a timed part: `brief`, or SLUB_TEST_SECONDS when set; `full` in the long form. */
double tk_seconds(double brief, double full);

/* `brief` or, in the long form, `full`: a count. */
size_t tk_count(size_t brief, size_t full);

/* SLUB_TEST_SEED, or one from the clock; said on stderr when the program fails. */
uint64_t tk_seed(void);

void tk_note(const char *fmt, ...) TK_FORMAT(1, 2);
bool tk_check(bool ok, const char *fmt, ...) TK_FORMAT(2, 3);
bool tk_failed(void);
void tk_skip(const char *fmt, ...) TK_FORMAT(1, 2) __attribute__((noreturn));
int tk_finish(void);

/* Run fn(arg) in a child; a crash or `limit_s` seconds without an end is a failure. True when it
 * ended well. */
bool tk_child(const char *part, void (*fn)(void *), void *arg, double limit_s);

/* The same, but only says how it ended: the wait status, or -1 when it was killed for lateness. */
int tk_child_status(void (*fn)(void *), void *arg, double limit_s);

/* Run a program and keep what it prints (both streams). */
struct tk_exec {
    const char *const *argv; /* argv[0] is looked up as it is */
    const char *const
        *env; /* "NAME=VALUE" to set or "NAME" to take away, NULL at the end; or NULL */
    void (*before)(void *); /* called in the child just before exec; or NULL */
    void *arg;
    double limit_s;
    int status;     /* out: wait status, -1 when it was killed for lateness */
    size_t n_out;   /* out: bytes printed */
    char out[4096]; /* out: what fitted, with a 0 at the end */
};
void tk_run(struct tk_exec *e);

/* Path of this program, for running it again with other arguments. */
const char *tk_self(void);

/* Path of a file beside this program. */
const char *tk_beside(const char *file);

/* "exit 3", "signal 11", "late": static text, overwritten by the next call. */
const char *tk_status_text(int status);
static inline bool tk_status_ok(int status)
{
    return status == 0;
}

/* The kit's names of what process_watch.h measures. */
#define tk_now      watch_now_s
#define tk_sleep    watch_sleep_s
#define tk_rss      watch_rss_bytes
#define tk_peak_rss watch_peak_rss_bytes
#define tk_maps     watch_n_maps
#define tk_cpus     watch_cpus
#define tk_pin      watch_pin

#ifdef __cplusplus
}
#endif
#endif
