/* SPDX-License-Identifier: MIT */
/* Rows F15 (free in a signal handler), F16 (errno) and O9 (impossible requests) of the scorecard. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "misuse.h"
#include "rng.h"

enum { EXIT_WRONG_ANSWER = 14, N_VICTIMS = 4096 };

/* ---- F15
 * ------------------------------------------------------------------------------------------ */

static void *victims[N_VICTIMS];
static volatile sig_atomic_t n_freed;

static void free_one(int signo)
{
    (void)signo;
    if (n_freed < N_VICTIMS) {
        free(victims[n_freed]);
        n_freed++;
    }
}

/* Handlers free while this thread allocates: no hang, no damage. */
static void in_handler(size_t bytes)
{
    struct sigaction action = {.sa_handler = free_one, .sa_flags = SA_RESTART};
    struct itimerval tick = {.it_interval = {.tv_usec = 250}, .it_value = {.tv_usec = 250}};
    struct rng r = {.s = 15};
    static char *held[512];
    double end;

    for (int i = 0; i < N_VICTIMS; i++)
        victims[i] = malloc(bytes);
    misuse_expect("none", NULL, 0);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &tick, NULL);
    for (end = tk_now() + 0.4; tk_now() < end && n_freed < N_VICTIMS;)
        for (int i = 0; i < 200; i++) {
            size_t slot = rng_below(&r, 512), n = rng_size(&r, 1, 2 * bytes);

            free(held[slot]);
            held[slot] = malloc(n);
            memset(held[slot], (int)slot, n);
        }
    memset(&tick, 0, sizeof tick);
    setitimer(ITIMER_REAL, &tick, NULL);
    if (n_freed == 0)
        _exit(EXIT_WRONG_ANSWER);
}

/* ---- F16
 * ------------------------------------------------------------------------------------------ */

static void keeps_errno(size_t bytes)
{
    static const int values[] = {0, EINTR, ENOMEM, 12345, -1};
    static char stranger[64];

    misuse_expect("none", NULL, 0);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        void *blocks[] = {malloc(bytes), malloc(bytes * 64), malloc(32u << 20), NULL,
                          hide(stranger + 16)};

        for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++) {
            errno = values[i];
            free(blocks[k]);
            if (errno != values[i])
                _exit(EXIT_WRONG_ANSWER);
        }
    }
}

/* ---- O9
 * ------------------------------------------------------------------------------------------- */

static void must_fail(void *p, int want)
{
    if (p != NULL || errno != want)
        _exit(EXIT_WRONG_ANSWER);
    errno = 0;
}

static void impossible(size_t bytes)
{
    void *p = NULL;

    misuse_expect("none", NULL, 0);
    errno = 0;
    must_fail(malloc(tk_opaque((size_t)-2)), ENOMEM);
    must_fail(malloc(tk_opaque((size_t)PTRDIFF_MAX + 1)), ENOMEM);
    must_fail(calloc(tk_opaque(SIZE_MAX), 2), ENOMEM);
    must_fail(reallocarray(malloc(bytes), tk_opaque(SIZE_MAX / 2), 3), ENOMEM);
    must_fail(memalign(4096, tk_opaque(SIZE_MAX - 100)), ENOMEM);
    if (posix_memalign(&p, tk_opaque(24), bytes) != EINVAL || p != NULL)
        _exit(EXIT_WRONG_ANSWER);
}

const struct misuse misuse_other[] = {
    {"in-handler", in_handler},
    {"keeps-errno", keeps_errno},
    {"impossible", impossible},
    {NULL, NULL},
};
