/* SPDX-License-Identifier: MIT */
/* Case 11: a process that goes idle makes no calls that could give memory back; it must be back
 * before. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "testkit.h"

enum { SMALL = 200, KEEP_ONE_OF = 5000 };

static void large(void *unused)
{
    size_t n = tk_count(192, 1024);
    void **blocks = malloc(n * sizeof *blocks);

    (void)unused;
    for (size_t i = 0; i < n; i++) {
        blocks[i] = malloc(1 << 20);
        memset(blocks[i], 1, 1 << 20);
    }
    for (size_t i = 1; i < n; i++)
        free(blocks[i]);
    tk_sleep(tk_seconds(0.2, 15));
    tk_note("after %zu MiB freed and idle %.1f MiB", n - 1, (double)tk_rss() / TK_MIB);
    tk_check((double)tk_rss() < 64 * TK_MIB, "idle with %.1f MiB", (double)tk_rss() / TK_MIB);
    free(blocks[0]);
    free(blocks);
}

static void small(void *unused)
{
    size_t n = tk_count(250000, 2000000), peak;
    void **blocks = malloc(n * sizeof *blocks);
    int trimmed;

    (void)unused;
    for (size_t i = 0; i < n; i++) {
        blocks[i] = malloc(SMALL);
        memset(blocks[i], 1, SMALL);
    }
    for (size_t i = 0; i < n; i++)
        if (i % KEEP_ONE_OF != 0)
            free(blocks[i]);
    peak = tk_peak_rss();
    tk_sleep(tk_seconds(0.2, 15));
    tk_note("small: idle %.1f", (double)tk_rss() / TK_MIB);
    trimmed = malloc_trim(0);
    tk_note("trimmed %.1f of %.1f MiB", (double)tk_rss() / TK_MIB, (double)peak / TK_MIB);
    /* The table of pointers is the test's own and stays: it is no part of what can be given back.
     */
    tk_check((double)(tk_rss() - n * sizeof *blocks) <= 0.25 * (double)peak,
             "%.1f of %.1f MiB remain", (double)tk_rss() / TK_MIB, (double)peak / TK_MIB);
    tk_check(trimmed == 1, "malloc_trim returned %d", trimmed);
}

int main(int argc, char **argv)
{
    tk_init("kf11", "idle return", argc, argv);
    tk_child("large", large, NULL, 120);
    tk_child("small", small, NULL, 120);
    return tk_finish();
}
