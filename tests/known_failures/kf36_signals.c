/* SPDX-License-Identifier: MIT */
/* Case 36: signals into the middle of the allocator. A handler that does not allocate must be
 * harmless; one that does must neither hang the program nor corrupt it. A jump out of malloc is
 * tried too. The profiler of the case comes with slub's own profiler. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model.h"
#include "rng.h"
#include "stamp.h"
#include "testkit.h"

enum { SLOTS = 256, EXIT_DAMAGED = 11, EXIT_STARVED = 12 };

static void storm(void *unused)
{
    struct model_config config = {.ops = &model_malloc_ops,
                                  .n_threads = 4,
                                  .signals = true,
                                  .seconds = tk_seconds(0.4, 60),
                                  .seed = tk_seed()};
    struct model_result result;

    (void)unused;
    tk_check(model_run(&config, &result), "the heap was damaged");
    tk_check(result.n_signals > 0, "no signal arrived");
    tk_note("%llu signals harmless", (unsigned long long)result.n_signals);
}

static volatile sig_atomic_t is_damaged;
static void *volatile handler_blocks[16];
static volatile unsigned n_handled;

static size_t handler_bytes(unsigned i)
{
    static const size_t bytes[] = {64, 64, 200, 3000, 40, 20000, 64, 100000};

    return bytes[i % 8];
}

static void allocating_handler(int signo)
{
    unsigned i = n_handled++ % 16;
    int saved = errno;

    (void)signo;
    if (handler_blocks[i] != NULL) {
        if (stamp_first_bad(handler_blocks[i], handler_bytes(i), i + 1) != handler_bytes(i))
            is_damaged = 1;
        if (n_handled % 3 == 0)
            handler_blocks[i] = realloc(handler_blocks[i], handler_bytes(i) * 2);
        free(handler_blocks[i]);
    }
    handler_blocks[i] = n_handled % 2 == 0 ? malloc(handler_bytes(i)) : calloc(1, handler_bytes(i));
    if (handler_blocks[i] != NULL)
        stamp_fill(handler_blocks[i], handler_bytes(i), i + 1);
    errno = saved;
}

static void often(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval tick = {.it_interval = {.tv_usec = 200}, .it_value = {.tv_usec = 200}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &tick, NULL);
}

/* One thread's work on small blocks, checked by stamps; 0 when sound. */
static int work(struct rng *r, void **blocks, size_t *sizes)
{
    size_t i = rng_below(r, SLOTS);

    if (blocks[i] != NULL) {
        if (stamp_first_bad(blocks[i], sizes[i], i + 1) != sizes[i])
            return 1;
        free(blocks[i]);
    }
    sizes[i] = rng_size(r, 1, i % 16 == 0 ? 100000 : 300);
    blocks[i] = malloc(sizes[i]);
    stamp_fill(blocks[i], sizes[i], i + 1);
    return 0;
}

static void handler_allocates(void *unused)
{
    struct rng r = {.s = tk_seed()};
    static void *blocks[SLOTS];
    static size_t sizes[SLOTS];
    double end = tk_now() + tk_seconds(0.3, 10);

    (void)unused;
    often(allocating_handler);
    while (tk_now() < end)
        for (int i = 0; i < 1000; i++)
            if (work(&r, blocks, sizes) != 0 || is_damaged)
                _exit(EXIT_DAMAGED);
}

static sigjmp_buf jump;
static volatile sig_atomic_t may_jump;

static void jumping_handler(int signo)
{
    (void)signo;
    if (may_jump) {
        may_jump = 0;
        siglongjmp(jump, 1);
    }
}

/* The block under work when the jump comes is lost to the test: it may be in the allocator's hands.
 */
static void handler_jumps(void *unused)
{
    static struct rng r;
    static void *blocks[SLOTS];
    static size_t sizes[SLOTS];
    static size_t i;
    double end = tk_now() + tk_seconds(0.3, 10);

    (void)unused;
    r.s = tk_seed();
    often(jumping_handler);
    while (tk_now() < end) {
        if (sigsetjmp(jump, 1) == 0) {
            for (;;) {
                void *p;

                i = rng_below(&r, SLOTS);
                p = blocks[i];
                if (p != NULL && stamp_first_bad(p, sizes[i], i + 1) != sizes[i])
                    _exit(EXIT_DAMAGED);
                blocks[i] = NULL;
                may_jump = 1;
                free(p);
                sizes[i] = 1 + (size_t)(r.s % 300);
                p = malloc(sizes[i]);
                may_jump = 0;
                if (p == NULL)
                    _exit(EXIT_STARVED);
                stamp_fill(p, sizes[i], i + 1);
                blocks[i] = p;
                if (tk_now() > end)
                    break;
            }
        }
    }
}

/* Says how it ended: "works", "hangs", "damage", "runs out of memory". */
static const char *outcome_of(void (*fn)(void *), int *status)
{
    *status = tk_child_status(fn, NULL, tk_seconds(0.3, 10) + 4);
    if (WIFEXITED(*status) && WEXITSTATUS(*status) == EXIT_DAMAGED)
        return "damage";
    if (WIFEXITED(*status) && WEXITSTATUS(*status) == EXIT_STARVED)
        return "runs out of memory";
    return *status == 0 ? "works" : *status == -1 ? "hangs" : tk_status_text(*status);
}

int main(int argc, char **argv)
{
    int status;

    tk_init("kf36", "signals", argc, argv);
    tk_child("storm", storm, NULL, 180);
    tk_note("handler allocates: %s", outcome_of(handler_allocates, &status));
    tk_check(status == 0, "handler allocates: %s", tk_status_text(status));
    /* POSIX leaves the heap undefined after such a jump: said, not judged. */
    tk_note("handler jumps: %s", outcome_of(handler_jumps, &status));
    return tk_finish();
}
