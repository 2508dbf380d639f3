/* SPDX-License-Identifier: MIT */
/* Case 13: growing by realloc must move pages, not bytes, and must not hold old and new at once. */
#include <stdlib.h>
#include <string.h>

#include "stamp.h"
#include "testkit.h"

static double mib(size_t bytes)
{
    return (double)bytes / TK_MIB;
}

static void sparse_doubling(void *unused)
{
    double begin = tk_now();
    char *p = NULL;

    (void)unused;
    for (unsigned k = 0; k <= 30; k++) {
        p = realloc(p, (size_t)1 << k);
        if (!tk_check(p != NULL, "realloc to 2^%u", k))
            return;
        p[((size_t)1 << k) - 1] = 1;
    }
    tk_note("sparse to 1 GiB %.3f s, peak %.1f MiB", tk_now() - begin, mib(tk_peak_rss()));
    tk_check(tk_now() - begin < 0.05 * 20, "sparse: %.3f s", tk_now() - begin);
    tk_check(mib(tk_peak_rss()) < 32, "sparse: peak %.1f MiB", mib(tk_peak_rss()));
    p = realloc(p, 1024);
    tk_check(mib(tk_rss()) < 32, "shrunk to 1 KiB with %.1f MiB resident", mib(tk_rss()));
    free(p);
}

static void steps(void *unused)
{
    double begin = tk_now();
    char *p = malloc(1 << 20);

    (void)unused;
    for (size_t n = 1 << 20; n <= 200u << 20; n += 65536) {
        p = realloc(p, n);
        p[n - 1] = 1;
    }
    tk_note("64 KiB steps to 200 MiB %.3f s", tk_now() - begin);
    tk_check(tk_now() - begin < 0.1 * 20, "steps: %.3f s", tk_now() - begin);
    free(p);
}

static void dense(void *unused)
{
    size_t n = 1 << 20, last = tk_count(96, 1024) << 20, base = tk_rss();
    char *p = malloc(n);

    (void)unused;
    memset(p, 1, n);
    while (n < last) {
        p = realloc(p, n + (4u << 20));
        memset(p + n, 1, 4u << 20);
        n += 4u << 20;
    }
    tk_note("dense peak %.2fx", (double)(tk_peak_rss() - base) / (double)n);
    tk_check((double)(tk_peak_rss() - base) <= 1.1 * (double)n, "dense: peak %.1f MiB for %.1f",
             mib(tk_peak_rss()), mib(n));
    /* Shrinking a full block gives its pages back. */
    p = realloc(p, 1024);
    tk_check(mib(tk_rss()) < 64, "dense: %.1f MiB resident after shrinking", mib(tk_rss()));
    tk_check(p[0] == 1 && p[1023] == 1, "dense: contents lost by shrinking");
    free(p);
}

static void bytewise(void *unused)
{
    double begin = tk_now();
    size_t n_moves = 0, bad;
    unsigned char *p = NULL;

    (void)unused;
    for (size_t n = 1; n <= 1 << 20; n++) {
        unsigned char *q = realloc(p, n);

        n_moves += q != p;
        p = q;
        p[n - 1] = (unsigned char)(n * 7);
    }
    for (bad = 0; bad < 1 << 20; bad++)
        if (p[bad] != (unsigned char)((bad + 1) * 7))
            break;
    tk_check(bad == 1 << 20, "bytewise: byte %zu lost", bad);
    tk_note("bytewise to 1 MiB %zu moves %.3f s", n_moves, tk_now() - begin);
    tk_check(n_moves < 4000, "bytewise: %zu moves", n_moves);
    tk_check(tk_now() - begin < 0.2 * 20, "bytewise: %.3f s", tk_now() - begin);
    free(p);
}

int main(int argc, char **argv)
{
    tk_init("kf13", "realloc growth", argc, argv);
    tk_child("sparse", sparse_doubling, NULL, 60);
    tk_child("steps", steps, NULL, 60);
    tk_child("dense", dense, NULL, 60);
    tk_child("bytewise", bytewise, NULL, 60);
    return tk_finish();
}
