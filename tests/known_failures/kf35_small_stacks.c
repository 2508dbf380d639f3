/* SPDX-License-Identifier: MIT */
/* Case 35: small stacks: the smallest threads, and a coroutine of 8 KiB. No path may need more than
 * 2 KiB. SLUB_TEST_STACK_BYTES asks for larger threads, for builds without optimisation; depth is
 * then said only. */
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "testkit.h"

/* OWN: what a step of this test needs for itself. */
enum { COROUTINE = 8192, MOST_DEEP = 2048, OWN = 64, PAINT = 0xa5 };

static size_t thread_bytes;

static const size_t sizes[] = {1, 100, 5000, 70000, 3u << 20};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };
static char *blocks[3 * N_SIZES];

static void allocate(void)
{
    for (size_t i = 0; i < N_SIZES; i++) {
        blocks[3 * i] = malloc(sizes[i]);
        blocks[3 * i + 1] = aligned_alloc(4096, sizes[i]);
        blocks[3 * i + 2] = calloc(1, sizes[i]);
    }
}

static void resize(void)
{
    for (size_t i = 0; i < 3 * N_SIZES; i++) {
        blocks[i] = realloc(blocks[i], sizes[i / 3] * 2);
        blocks[i][sizes[i / 3]] = 1;
    }
    for (size_t i = 0; i < 3 * N_SIZES; i++)
        blocks[i] = realloc(blocks[i], sizes[i / 3] / 2 + 1);
}

static void release(void)
{
    for (size_t i = 0; i < 3 * N_SIZES; i++)
        free(blocks[i]);
}

/* Enough of one size for every refill and flush there is. */
static void many(void)
{
    static char *held[4000];

    for (size_t i = 0; i < 4000; i++)
        held[i] = malloc(200);
    for (size_t i = 0; i < 4000; i++)
        free(held[i]);
}

static void trim(void)
{
    malloc_trim(0);
}

static const struct {
    const char *name;
    void (*run)(void);
} steps[] = {{"allocation", allocate},
             {"realloc", resize},
             {"free", release},
             {"many", many},
             {"trim", trim}};
enum { N_STEPS = sizeof steps / sizeof steps[0] };

static void all_calls(void)
{
    for (size_t i = 0; i < N_STEPS; i++)
        steps[i].run();
}

static void *in_thread(void *unused)
{
    all_calls();
    return unused;
}

static void threads(void *unused)
{
    pthread_attr_t attr;
    pthread_t t;

    (void)unused;
    for (int i = 0; i < 4; i++) {
        pthread_attr_init(&attr);
        if (!tk_check(pthread_attr_setstacksize(&attr, thread_bytes) == 0, "stack of %zu",
                      thread_bytes))
            return;
        if (tk_check(pthread_create(&t, &attr, in_thread, NULL) == 0, "thread with %zu",
                     thread_bytes))
            pthread_join(t, NULL);
        pthread_attr_destroy(&attr);
    }
    tk_note("threads of %zu KiB fine", thread_bytes / 1024);
}

static ucontext_t home, away;
static void (*step)(void);

static void trampoline(void)
{
    step();
}

/* Bytes of the stack that step() touched; the stack has an unmapped page below it. */
static size_t depth_of(void (*what)(void), unsigned char *stack, size_t bytes)
{
    size_t untouched = 0;

    memset(stack, PAINT, bytes);
    getcontext(&away);
    away.uc_stack.ss_sp = stack;
    away.uc_stack.ss_size = bytes;
    away.uc_link = &home;
    step = what;
    makecontext(&away, trampoline, 0);
    swapcontext(&home, &away);
    while (untouched < bytes && stack[untouched] == PAINT)
        untouched++;
    return bytes - untouched;
}

static void nothing(void)
{
}

static unsigned char *stack_with_guard(size_t bytes)
{
    unsigned char *p = mmap(NULL, bytes + 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(p + 65536, bytes, PROT_READ | PROT_WRITE);
    return p + 65536;
}

static void coroutine(void *unused)
{
    size_t bytes = thread_bytes > 16384 ? thread_bytes : COROUTINE;
    unsigned char *stack = stack_with_guard(bytes);

    (void)unused;
    depth_of(all_calls, stack, bytes);
    tk_note("a coroutine of %zu KiB fine", bytes / 1024);
}

/* In the child nothing has run yet: the steps take the slow paths and first uses too. */
static void deepest(void *unused)
{
    unsigned char *stack = stack_with_guard(256 * 1024);
    size_t idle = depth_of(nothing, stack, 256 * 1024);

    (void)unused;
    for (size_t i = 0; i < N_STEPS; i++) {
        size_t deep = depth_of(steps[i].run, stack, 256 * 1024) - idle;

        tk_note("%s %zu bytes deep", steps[i].name, deep);
        if (thread_bytes <= 16384)
            tk_check(deep <= MOST_DEEP + OWN, "%s: %zu bytes of stack", steps[i].name, deep);
    }
}

int main(int argc, char **argv)
{
    const char *given = getenv("SLUB_TEST_STACK_BYTES");
    long least = sysconf(_SC_THREAD_STACK_MIN);

    tk_init("kf35", "small stacks", argc, argv);
    thread_bytes = given != NULL ? (size_t)strtoul(given, NULL, 0) : 16384;
    if ((long)thread_bytes < least)
        thread_bytes = (size_t)least;
    tk_child("threads", threads, NULL, 30);
    tk_child("coroutine", coroutine, NULL, 30);
    tk_child("depth", deepest, NULL, 30);
    return tk_finish();
}
