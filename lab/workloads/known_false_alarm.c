/* SPDX-License-Identifier: MIT */
/* Owns the half of case 44 that can be counted: no block that is freed once may be called freed
 * twice, whatever it contains.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/known_cases.h"
#include "workloads/rng.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 4096, N_THREADS = 4 };

struct thread_work {
    pthread_t thread;
    uint64_t seed;
    size_t n;
};

/* Words that a check inside the block could take for its own marks. */
static void fill_badly(char *p, size_t bytes, struct rng *r, uintptr_t other)
{
    const uint64_t words[] = {other,
                              other ^ ((uintptr_t)p >> 12),
                              0,
                              UINT64_MAX,
                              (uintptr_t)p,
                              0x6b6b6b6b6b6b6b6bu,
                              0xbbbbbbbbbbbbbbbbu,
                              rng_next(r)};
    const uint64_t w = words[rng_below(r, 8)];

    for (size_t i = 0; i + 8 <= bytes; i += 8)
        memcpy(p + i, &w, 8);
}

static void *free_once(void *arg)
{
    const struct thread_work *work = arg;
    struct rng r = {.s = work->seed};
    void **slots = known_table(SLOTS, sizeof(*slots));

    for (size_t i = 0; i < work->n; i++) {
        const size_t bytes = rng_size(&r, 8, 4096);
        void **slot = &slots[rng_below(&r, SLOTS)];
        const uintptr_t last = (uintptr_t)*slot;

        free(*slot);
        *slot = malloc(bytes);
        fill_badly(*slot, bytes, &r, last);
    }
    for (int i = 0; i < SLOTS; i++)
        free(slots[i]);
    return NULL;
}

static _Noreturn void run_threads(const struct known_form *form)
{
    static struct thread_work work[N_THREADS];

    for (unsigned i = 0; i < N_THREADS; i++) {
        work[i] =
            (struct thread_work){.seed = form->seed + i, .n = known_count(form, 50000, 1000000)};
        pthread_create(&work[i].thread, NULL, free_once, &work[i]);
    }
    for (unsigned i = 0; i < N_THREADS; i++)
        pthread_join(work[i].thread, NULL);
    _exit(0);
}

/* An alarm ends the process: it is run in one of its own. */
const char *known_false_alarm(const struct known_form *form, uint64_t *figures)
{
    int status = 1;
    const pid_t pid = fork();

    if (pid == 0)
        run_threads(form);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return "fork failed";
    figures[0] = status != 0;
    return NULL;
}
