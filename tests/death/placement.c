/* SPDX-License-Identifier: MIT */
/* What an attacker may learn or reach by where blocks lie: rows M and U of the scorecard that hold
 * in every mode. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testkit.h"

enum { N = 4096, PAGE = 4096 };

/* M1: words that look like addresses, written into free blocks, come out of no later allocation. */
static void writes_after_free(void *unused)
{
    static char target[64];
    static uint64_t *p[N];

    (void)unused;
    for (size_t bytes = 16; bytes <= 1024; bytes *= 4) {
        for (int i = 0; i < N; i++)
            p[i] = malloc(bytes);
        for (int i = 0; i < N; i++)
            free(p[i]);
        for (int i = 0; i < N; i++) {
            uintptr_t to = (uintptr_t)target;
            uint64_t words[2] = {i % 2 ? to : to ^ ((uintptr_t)p[i] >> 12), to};

            memcpy(p[i], words, sizeof words);
        }
        for (int i = 0; i < N; i++) {
            char *q = malloc(bytes);

            tk_check(q + bytes <= target || q >= target + sizeof target,
                     "malloc gave the address that was written");
        }
    }
}

/* M5 and P3: freeing leaves what the program wrote, and adds nothing. */
static void contents_stay(void *unused)
{
    static unsigned char *p[N];
    size_t n_changed = 0;

    (void)unused;
    for (size_t bytes = 16; bytes <= 1024; bytes *= 4) {
        for (int i = 0; i < N; i++)
            memset(p[i] = malloc(bytes), 0x5a, bytes);
        for (int i = 0; i < N; i++)
            free(p[i]);
        for (int i = 0; i < N; i++)
            for (size_t k = 0; k < bytes; k++)
                n_changed += p[i][k] != 0x5a && p[i][k] != 0; /* 0: its page was given back */
    }
    tk_check(n_changed == 0, "%zu bytes of free blocks were written", n_changed);
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

    return (x > y) - (x < y);
}

/* M6: pages of one class are never those of another. */
static void classes_stay_apart(void *unused)
{
    enum {
        OLD_BYTES = 64,
        N_OLD = (32 << 20) / OLD_BYTES,
        NEW_BYTES = 192,
        N_NEW = (64 << 20) / NEW_BYTES
    };
    uintptr_t *old =
        mmap(NULL, N_OLD * sizeof *old, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t n_shared = 0;

    (void)unused;
    for (int i = 0; i < N_OLD; i++)
        old[i] = (uintptr_t)malloc(OLD_BYTES);
    for (int i = 0; i < N_OLD; i++) {
        free((void *)old[i]);
        old[i] /= PAGE;
    }
    malloc_trim(0);
    qsort(old, N_OLD, sizeof *old, by_address);
    for (int i = 0; i < N_NEW; i++) {
        uintptr_t page = (uintptr_t)malloc(NEW_BYTES) / PAGE;

        n_shared += bsearch(&page, old, N_OLD, sizeof *old, by_address) != NULL;
    }
    tk_check(n_shared == 0, "%zu blocks on pages of another class", n_shared);
}

/* M9: distances of blocks that follow each other take many values. */
static void order_varies(void *unused)
{
    static char *p[N];
    size_t n_same = 0;

    (void)unused;
    for (int i = 0; i < N; i++)
        p[i] = malloc(64);
    for (int i = 2; i < N; i++)
        n_same += p[i] - p[i - 1] == p[i - 1] - p[i - 2];
    tk_check(n_same < N / 20, "%zu of %d distances are like the one before", n_same, N);
}

enum { NEXT = 64 };

static size_t n_equal(char *const *a, char *const *b)
{
    size_t n = 0;

    for (int i = 0; i < NEXT; i++)
        n += a[i] == b[i];
    return n;
}

static void next_addresses(char **p)
{
    for (int i = 0; i < NEXT; i++)
        p[i] = malloc(64);
}

/* M13: a child does not allocate the addresses that its parent allocates next. */
static void child_differs(void *unused)
{
    char **of_child = mmap(NULL, NEXT * sizeof *of_child, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    static char *of_parent[NEXT];
    pid_t pid;

    (void)unused;
    for (int i = 0; i < N; i++)
        free(malloc(64));
    next_addresses(of_parent);
    pid = fork();
    if (pid == 0) {
        next_addresses(of_child);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    next_addresses(of_parent);
    tk_check(n_equal(of_parent, of_child) <= 8, "%zu of %d next addresses are the parent's",
             n_equal(of_parent, of_child), NEXT);
}

/* M10, M14: where the heap lies, and the order in it, differ from run to run. */
static void runs_differ(void)
{
    enum { RUNS = 16 };
    char bases[RUNS][32], orders[RUNS][512];
    const char *const again[] = {tk_self(), "where", NULL};
    size_t n_bases = 0, n_orders = 0;

    for (int i = 0; i < RUNS; i++) {
        struct tk_exec e = {.argv = again, .limit_s = 20};
        char *line;

        tk_run(&e);
        tk_check(e.status == 0, "a run ended with %s", tk_status_text(e.status));
        line = strchr(e.out, '\n');
        if (!tk_check(line != NULL, "a run said nothing"))
            return;
        *line = 0;
        snprintf(bases[i], sizeof bases[i], "%.31s", e.out);
        snprintf(orders[i], sizeof orders[i], "%.511s", line + 1);
        for (int k = 0; k < i; k++) {
            n_bases += strcmp(bases[i], bases[k]) == 0;
            n_orders += strcmp(orders[i], orders[k]) == 0;
        }
    }
    tk_check(n_bases == 0, "%zu pairs of %d runs have their heap at one place", n_bases, RUNS);
    tk_check(n_orders == 0, "%zu pairs of %d runs allocate in one order", n_orders, RUNS);
}

static void say(const char *text, uintptr_t value)
{
    char digits[24];
    size_t n = sizeof digits;

    digits[--n] = text[0];
    do {
        digits[--n] = "0123456789abcdef"[value % 16];
        value /= 16;
    } while (value != 0);
    (void)!write(1, digits + n, sizeof digits - n);
}

static int where(void)
{
    char *first = malloc(64);

    say("\n", (uintptr_t)first & ~(uintptr_t)0xffff);
    for (int i = 0; i < 16; i++)
        say(" ", (uintptr_t)malloc(64) & 0xffff);
    return 0;
}

/* U3: a block that was written to after it was freed is zero when calloc gives it out. */
static void calloc_clears(void *unused)
{
    static unsigned char *p[N];
    size_t n_dirty = 0;

    (void)unused;
    for (int i = 0; i < N; i++)
        p[i] = malloc(200);
    for (int i = 0; i < N; i++)
        free(p[i]);
    for (int i = 0; i < N; i++)
        memset(p[i], 0xee, 200);
    for (int i = 0; i < N; i++) {
        unsigned char *q = calloc(1, 200);

        for (int k = 0; k < 200; k++)
            n_dirty += q[k] != 0;
    }
    tk_check(n_dirty == 0, "%zu bytes of calloc are not zero", n_dirty);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "where") == 0)
        return where();
    tk_init("placement", "where blocks lie", argc, argv);
    tk_child("M1", writes_after_free, NULL, 60);
    tk_child("M5", contents_stay, NULL, 60);
    tk_child("M6", classes_stay_apart, NULL, 60);
    tk_child("M9", order_varies, NULL, 60);
    tk_child("M13", child_differs, NULL, 60);
    runs_differ();
    tk_child("U3", calloc_clears, NULL, 60);
    return tk_finish();
}
