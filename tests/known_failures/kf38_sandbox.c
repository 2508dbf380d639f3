/* SPDX-License-Identifier: MIT */
/* Case 38: sandboxes. First filter: once main runs, only what memory needs is allowed, and anything
 * else ends the process; slub is told so by an option. Second filter: probing calls are refused from
 * before exec on. Also built with the static library, where nothing needs openat at all. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model.h"
#include "rng.h"
#include "sandbox.h"
#include "stamp.h"
#include "testkit.h"

enum { N_THREADS = 4, N_SLOTS = 512 };
static const char memory_mode[] = "only memory calls", trim_mode[] = "with malloc_trim too";

static const int memory_calls[] = {SYS_mmap,     SYS_munmap,        SYS_mremap,   SYS_madvise,
                                   SYS_mprotect, SYS_brk,           SYS_futex,    SYS_exit_group,
                                   SYS_write,    SYS_clock_gettime, SYS_getrandom};
static const int probing_calls[] = {SYS_rseq, SYS_membarrier, SYS_getcpu, SYS_sched_getaffinity,
                                    SYS_prctl};
static const int open_calls[] = {SYS_openat};

static pthread_barrier_t ready, begin, end;
static void *_Atomic shared[N_SLOTS];

/* Blocks of all sizes, freed by whoever finds them. */
static void stress(uint64_t seed)
{
    struct rng r = {.s = seed};

    for (int i = 0; i < 40000; i++) {
        size_t bytes = rng_size(&r, 1, i % 64 == 0 ? 3u << 20 : 40000);
        unsigned char *p = i % 3 == 0 ? calloc(1, bytes) : malloc(bytes);

        if (p != NULL) {
            p[0] = p[bytes - 1] = 1;
            if (i % 7 == 0) {
                unsigned char *q = realloc(p, bytes * 2);
                p = q != NULL ? q : p;
            }
        }
        free(atomic_exchange(&shared[rng_below(&r, N_SLOTS)], p));
    }
}

static void *thread_main(void *seed)
{
    free(malloc(100));
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&begin);
    stress((uintptr_t)seed);
    pthread_barrier_wait(&end);
    /* The end of a thread needs calls of its own; the process ends first. */
    pthread_barrier_wait(&begin);
    return NULL;
}

/* The exec'ed side of the first filter: the end of a process by exit() needs other calls. */
static void only_memory_calls(bool with_trim)
{
    struct rlimit limit = {.rlim_cur = (rlim_t)2 << 30, .rlim_max = RLIM_INFINITY};
    pthread_t t;
    void *p;

    pthread_barrier_init(&ready, NULL, N_THREADS + 1);
    pthread_barrier_init(&begin, NULL, N_THREADS + 1);
    pthread_barrier_init(&end, NULL, N_THREADS + 1);
    for (uintptr_t i = 1; i <= N_THREADS; i++)
        pthread_create(&t, NULL, thread_main, (void *)i);
    /* The start of a thread needs calls of its own, too. */
    pthread_barrier_wait(&ready);
    /* Of data alone: a process beyond its limit of address space is not held to this one by the
     * kernel. */
    setrlimit(RLIMIT_DATA, &limit);
    if (!sandbox_allow_only(memory_calls, sizeof memory_calls / sizeof memory_calls[0])) {
        _exit(125);
    }
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
    errno = 77;
    p = malloc((size_t)3 << 30);
    tk_check(p == NULL && errno == ENOMEM, "at the limit: %p, errno %d", p, errno);
    free(p);
    for (int i = 0; i < N_SLOTS; i++)
        free(atomic_exchange(&shared[i], NULL));
    if (with_trim) {
        malloc_trim(0);
        stress(99);
    }
    _exit(tk_failed());
}

static void refuse_probing(void *with_open)
{
    if (!sandbox_refuse(probing_calls, sizeof probing_calls / sizeof probing_calls[0], EPERM))
        _exit(125);
    if (with_open != NULL && !sandbox_refuse(open_calls, 1, EPERM))
        _exit(125);
}

/* The exec'ed side of the second filter. */
static int probe(void)
{
    struct model_config config = {
        .ops = &model_malloc_ops, .n_threads = 4, .forks = true, .seconds = 0.3, .seed = 38};
    struct model_result result;

    if (!sandbox_refuse(open_calls, 1, EPERM))
        return 3;
    return model_run(&config, &result) ? 0 : 4;
}

static void memory_calls_allowed(const char *mode)
{
    const char *const again[] = {tk_self(), mode, NULL};
    const char *given = getenv("SLUB_OPTIONS");
    char options[400];
    const char *const env[] = {options, NULL};
    struct tk_exec e = {.argv = again, .env = env, .limit_s = 60};

    snprintf(options, sizeof options, "SLUB_OPTIONS=slab_fence=0 %s", given != NULL ? given : "");
    tk_run(&e);
    if (WEXITSTATUS(e.status) == 125)
        tk_skip("no seccomp here");
    tk_check(e.status == 0, "%s: %s: %s", mode, tk_status_text(e.status), e.out);
    tk_note("%s %s", mode, e.status == 0 ? "fine" : tk_status_text(e.status));
}

static void probing_refused(const char *program, const char *name, bool with_open)
{
    const char *const again[] = {program, "probe", NULL};
    struct tk_exec e = {
        .argv = again, .before = refuse_probing, .arg = with_open ? &e : NULL, .limit_s = 60};

    tk_run(&e);
    if (WEXITSTATUS(e.status) == 125)
        tk_skip("no seccomp here");
    tk_check(e.status == 0, "%s: %s: %s", name, tk_status_text(e.status), e.out);
    tk_note("%s %s", name, e.status == 0 ? "fine" : tk_status_text(e.status));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "probe") == 0)
        return probe();
    tk_init("kf38", "sandboxes", argc, argv);
    if (argc > 1 && strcmp(argv[1], memory_mode) == 0)
        only_memory_calls(false);
    if (argc > 1 && strcmp(argv[1], trim_mode) == 0)
        only_memory_calls(true);
    memory_calls_allowed(memory_mode);
    memory_calls_allowed(trim_mode);
    probing_refused(tk_self(), "probing refused", false);
    if (access(tk_beside("kf38_static"), X_OK) == 0) {
        char path[4200];

        snprintf(path, sizeof path, "%s", tk_beside("kf38_static"));
        probing_refused(path, "static, open refused too", true);
    }
    return tk_finish();
}
