/* SPDX-License-Identifier: MIT */
/* Case 1: key destructors that allocate and free after the allocator's own destructor ran.
 * A cache rebuilt for a thread that is already going is never reaped: memory grows with every dead
 * thread. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "testkit.h"

enum { WARM_UP = 1000, ROUNDS = 4, N_BLOCKS = 130 };
enum variant { EVERY_ROUND, LAST_ROUND, ONLY_FREES };

static pthread_key_t key;
static enum variant variant;

static void use_heap(void)
{
    void *p;

    free(malloc(100));
    p = malloc(3000);
    if (p != NULL)
        memset(p, 1, 3000);
    free(p);
}

/* The value counts the rounds; setting it again asks for one more. */
static void late(void *value)
{
    uintptr_t round = (uintptr_t)value;

    if (variant == EVERY_ROUND || round == ROUNDS)
        use_heap();
    if (round < ROUNDS)
        pthread_setspecific(key, (void *)(round + 1));
}

static void frees(void *value)
{
    void **blocks = value;

    for (int i = 0; i < N_BLOCKS; i++)
        free(blocks[i]);
}

static void *thread_main(void *arg)
{
    if (variant == EVERY_ROUND)
        use_heap();
    pthread_setspecific(key, arg);
    return NULL;
}

static void run_threads(size_t n)
{
    static void *blocks[N_BLOCKS];
    pthread_t t;

    for (size_t i = 0; i < n; i++) {
        void *value = (void *)(uintptr_t)1;

        if (variant == ONLY_FREES) {
            for (int k = 0; k < N_BLOCKS; k++)
                blocks[k] = malloc(16 + 8 * (size_t)k);
            value = blocks;
        }
        if (!tk_check(pthread_create(&t, NULL, thread_main, value) == 0, "pthread_create after %zu",
                      i))
            return;
        pthread_join(t, NULL);
    }
}

static void churn(void *arg)
{
    static const char *const names[] = {"every round", "last round", "only frees"};
    size_t n = tk_count(3000, 100000), rss, maps;
    double grown;
    long more_maps;

    variant = *(const enum variant *)arg;
    pthread_key_create(&key, variant == ONLY_FREES ? frees : late);
    run_threads(WARM_UP);
    rss = tk_rss();
    maps = tk_maps();
    run_threads(n - WARM_UP);
    grown = ((double)tk_rss() - (double)rss) / TK_MIB;
    more_maps = (long)tk_maps() - (long)maps;

    tk_note("%s %+.2f MiB %+ld maps", names[variant], grown, more_maps);
    tk_check(grown <= 1.0, "%s: RSS grew by %.2f MiB over %zu threads", names[variant], grown, n);
    tk_check(more_maps <= 0, "%s: %ld more lines in maps", names[variant], more_maps);
}

int main(int argc, char **argv)
{
    tk_init("kf01", "late key destructors", argc, argv);
    for (enum variant v = EVERY_ROUND; v <= ONLY_FREES; v++)
        tk_child("threads", churn, &v, 120);
    return tk_finish();
}
