/* SPDX-License-Identifier: MIT */
/* Case 44: blocks freed twice. None that was freed once may be called so, whatever it contains; one
 * that was is reported, or at the least never handed out to two owners. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "known_check.h"
#include "slubinfo.h"
#include "testkit.h"

enum { EXIT_ALIASED = 11, N_AFTER = 4096 };

/* ---- none where there was none
 * -------------------------------------------------------------------- */

/* Neighbours of one slab, freed by two threads at once. */
static void *_Atomic neighbours[256];

static void *free_odd(void *barrier)
{
    for (int round = 0; round < 500; round++) {
        pthread_barrier_wait(barrier);
        for (int i = 1; i < 256; i += 2)
            free(neighbours[i]);
        pthread_barrier_wait(barrier);
    }
    return NULL;
}

static void racing_neighbours(void *unused)
{
    pthread_barrier_t barrier;
    pthread_t t;

    (void)unused;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&t, NULL, free_odd, &barrier);
    for (int round = 0; round < 500; round++) {
        for (int i = 0; i < 256; i++)
            neighbours[i] = malloc(48);
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < 256; i += 2)
            free(neighbours[i]);
        pthread_barrier_wait(&barrier);
    }
    pthread_join(t, NULL);
}

/* ---- all where there were
 * ------------------------------------------------------------------------- */

static void *volatile victim; /* volatile: the compiler knows nothing of its history */

static int by_value(const void *a, const void *b)
{
    void *const *x = a, *const *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* The class again, many times over: no two blocks may overlap. */
static void drain(size_t bytes)
{
    static void *blocks[N_AFTER];
    size_t n = bytes > 65536 ? 64 : N_AFTER;

    for (size_t i = 0; i < n; i++)
        blocks[i] = malloc(bytes);
    qsort(blocks, n, sizeof blocks[0], by_value);
    for (size_t i = 1; i < n; i++)
        if ((char *)blocks[i - 1] + bytes > (char *)blocks[i])
            _exit(EXIT_ALIASED);
}

static void twice(void *arg)
{
    victim = malloc(*(size_t *)arg);
    free(victim);
    free(victim);
    drain(*(size_t *)arg);
}

static void twice_after_others(void *arg)
{
    void *others[100];

    for (int i = 0; i < 100; i++)
        others[i] = malloc(*(size_t *)arg);
    victim = malloc(*(size_t *)arg);
    free(victim);
    for (int i = 0; i < 100; i++)
        free(others[i]);
    free(victim);
    drain(*(size_t *)arg);
}

static void *free_at_once(void *barrier)
{
    pthread_barrier_wait(barrier);
    free(victim);
    return NULL;
}

static void twice_at_once(void *arg)
{
    pthread_barrier_t barrier;
    pthread_t t;

    pthread_barrier_init(&barrier, NULL, 2);
    for (int round = 0; round < 100; round++) {
        victim = malloc(*(size_t *)arg);
        pthread_create(&t, NULL, free_at_once, &barrier);
        free_at_once(&barrier);
        pthread_join(t, NULL);
        drain(*(size_t *)arg);
        if (round % 20 == 0)
            malloc_trim(0);
    }
}

static void twice_after_reuse(void *arg)
{
    victim = malloc(*(size_t *)arg);
    free(victim);
    malloc_trim(0);
    /* Other classes take what they can of the memory. */
    for (int i = 0; i < 2000; i++)
        tk_keep(malloc(32 + (size_t)(i % 50) * 64));
    free(victim);
    drain(*(size_t *)arg);
}

static void interior(void *arg)
{
    victim = malloc(*(size_t *)arg);
    free((char *)victim + 8);
    drain(*(size_t *)arg);
}

static void resized_after_free(void *arg)
{
    victim = malloc(*(size_t *)arg);
    free(victim);
    victim = realloc(victim, *(size_t *)arg * 2);
    drain(*(size_t *)arg * 2);
}

/* The sequence of the report: large blocks, the first freed twice, others in between. */
static void large_sequence(void *unused)
{
    void *a, *b;

    (void)unused;
    a = malloc(622616);
    victim = a;
    free(a);
    b = malloc(655362);
    free(victim);
    tk_keep(malloc(786432));
    tk_keep(b);
    drain(655362);
}

static const struct {
    const char *name;
    void (*run)(void *);
} cases[] = {
    {"twice", twice},
    {"after others", twice_after_others},
    {"at once", twice_at_once},
    {"after reuse", twice_after_reuse},
    {"interior", interior},
    {"realloc", resized_after_free},
    {"large sequence", large_sequence},
};

static void quietly(void *arg)
{
    void *const *what = arg;
    void (*run)(void *);

    memcpy(&run, &what[0], sizeof run);
    /* Reports are expected here: they would only bury others. */
    close(2);
    run(what[1]);
}

static void true_ones(void)
{
    const struct slub_root *root = slubinfo_root();
    bool may_alias = root != NULL && strcmp(root->mode, "fast") == 0;
    static size_t sizes[] = {24, 200, 3000, 20000, 300000};
    unsigned n_detected = 0, n_survived = 0, n_aliased = 0, n_crashed = 0;

    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            void *what[2] = {NULL, &sizes[s]};
            int status;

            memcpy(&what[0], &cases[c].run, sizeof what[0]);
            status = tk_child_status(quietly, what, 60);
            if (status == 0)
                n_survived++;
            else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
                n_detected++;
            else if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_ALIASED)
                n_aliased++;
            else
                n_crashed++;
            tk_check(may_alias || status == 0 ||
                         (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT),
                     "%s, %zu bytes: %s", cases[c].name, sizes[s],
                     WIFEXITED(status) ? "two owners" : tk_status_text(status));
        }
    tk_note("misuse: %u reported %u harmless %u aliased %u crashed", n_detected, n_survived,
            n_aliased, n_crashed);
    if (may_alias)
        tk_note("not judged in fast mode");
}

int main(int argc, char **argv)
{
    tk_init("kf44", "double frees", argc, argv);
    tk_known(KNOWN_FALSE_ALARM, 120);
    tk_child("racing neighbours", racing_neighbours, NULL, 60);
    true_ones();
    return tk_finish();
}
