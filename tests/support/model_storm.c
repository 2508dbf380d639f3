/* SPDX-License-Identifier: MIT */
/* Storms for the model: signals into the middle of everything, and moves between CPUs.
 * The handler does not allocate; it spoils what a handler may spoil, errno, and puts it back. */
#include <errno.h>
#include <sched.h>
#include <signal.h>

#include "model_private.h"

static atomic_uint_fast64_t n_signals;
static struct sigaction old_action;
static cpu_set_t all_cpus;
static int n_cpus;

static void on_signal(int signo)
{
    int saved = errno;

    (void)signo;
    atomic_fetch_add_explicit(&n_signals, 1, memory_order_relaxed);
    errno = saved + 1;
    errno = saved;
}

void model_storm_begin(const struct model_config *config)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    atomic_store(&n_signals, 0);
    if (config->signals)
        sigaction(SIGPROF, &action, &old_action);
    CPU_ZERO(&all_cpus);
    n_cpus = sched_getaffinity(0, sizeof all_cpus, &all_cpus) == 0 ? CPU_COUNT(&all_cpus) : 0;
}

static void move(struct model_worker *w, struct rng *r)
{
    uint64_t skip = rng_below(r, (uint64_t)n_cpus);
    cpu_set_t one;

    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all_cpus) && skip-- == 0) {
            CPU_SET(cpu, &one);
            break;
        }
    pthread_setaffinity_np(w->thread, sizeof one, &one);
}

/* The thread is not joined yet, so its handle is good even when it has just ended. */
void model_storm_tick(struct model_worker *w, struct rng *r)
{
    if (w->run->config->signals)
        pthread_kill(w->thread, SIGPROF);
    if (w->run->config->moves && n_cpus > 1 && rng_below(r, 4) == 0)
        move(w, r);
}

uint64_t model_storm_end(const struct model_config *config)
{
    if (config->signals)
        sigaction(SIGPROF, &old_action, NULL);
    return atomic_load(&n_signals);
}
