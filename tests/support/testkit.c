/* SPDX-License-Identifier: MIT */
/* The result line of a test program, its notes, checks, counts and seed. Contract: testkit.h. */
#include "testkit.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_SKIPPED = 77 };

/* Lives in memory shared with the children. */
struct outcome {
    atomic_uint o_failures;
    char o_notes[1500];
};

static struct outcome *outcome;
static const char *test_id, *test_what;
static bool is_full;
static uint64_t seed;
static char self_path[4096], beside_path[4200];

void tk_init(const char *id, const char *what, int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", self_path, sizeof self_path - 1);
    const char *given = getenv("SLUB_TEST_SEED");

    self_path[n > 0 ? n : 0] = 0;
    test_id = id;
    test_what = what;
    for (int i = 1; i < argc; i++)
        is_full = is_full || strcmp(argv[i], "full") == 0;
    seed =
        given != NULL ? strtoull(given, NULL, 0) : (uint64_t)(tk_now() * 1e9) ^ (uint64_t)getpid();
    outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED) {
        dprintf(2, "%s: no memory for the test's own record\n", id);
        exit(1);
    }
}

bool tk_full(void)
{
    return is_full;
}

double tk_seconds(double brief, double full)
{
    const char *given = getenv("SLUB_TEST_SECONDS");

    if (is_full)
        return full;
    return given != NULL ? strtod(given, NULL) : brief;
}

size_t tk_count(size_t brief, size_t full)
{
    return is_full ? full : brief;
}

uint64_t tk_seed(void)
{
    return seed;
}

void tk_note(const char *fmt, ...)
{
    size_t used = strlen(outcome->o_notes), room = sizeof outcome->o_notes - used;
    va_list ap;
    int n = used > 0 ? snprintf(outcome->o_notes + used, room, ", ") : 0;

    if ((size_t)n >= room)
        return;
    va_start(ap, fmt);
    vsnprintf(outcome->o_notes + used + n, room - (size_t)n, fmt, ap);
    va_end(ap);
}

bool tk_check(bool ok, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    if (ok)
        return true;
    /* The first reasons tell; a loop that fails a million times need not. */
    if (atomic_fetch_add(&outcome->o_failures, 1) < 12) {
        int n = snprintf(text, sizeof text, "%s: FAILED: ", test_id);

        va_start(ap, fmt);
        n += vsnprintf(text + n, sizeof text - (size_t)n - 1, fmt, ap);
        va_end(ap);
        if (n > (int)sizeof text - 2)
            n = (int)sizeof text - 2;
        text[n++] = '\n';
        /* write(), not stdio: a sandbox under test may allow nothing else. */
        if (write(2, text, (size_t)n) < 0)
            return false;
    }
    return false;
}

bool tk_failed(void)
{
    return atomic_load(&outcome->o_failures) != 0;
}

void tk_skip(const char *fmt, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    dprintf(1, "%s %s: skipped, %s\n", test_id, test_what, text);
    _exit(EXIT_SKIPPED);
}

int tk_finish(void)
{
    unsigned n = atomic_load(&outcome->o_failures);

    dprintf(1, "%s %s: %s\n", test_id, test_what, outcome->o_notes);
    if (n > 0)
        dprintf(2, "%s: %u failed checks, SLUB_TEST_SEED=%llu\n", test_id, n,
                (unsigned long long)seed);
    return n > 0;
}

const char *tk_self(void)
{
    return self_path;
}

const char *tk_beside(const char *file)
{
    const char *slash = strrchr(self_path, '/');

    snprintf(beside_path, sizeof beside_path, "%.*s/%s", slash ? (int)(slash - self_path) : 0,
             self_path, file);
    return beside_path;
}
