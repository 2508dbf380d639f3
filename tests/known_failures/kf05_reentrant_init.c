/* SPDX-License-Identifier: MIT */
/* Case 5: the allocator is entered again while it initialises: by wrappers that allocate around
 * what it may call, by atexit() and by thread-specific data as the first events of a program. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit.h"

enum { N_ATEXIT = 40, N_KEYS = 40 };

static void nothing(void)
{
}

static void many_atexit(void)
{
    for (int i = 0; i < N_ATEXIT; i++)
        atexit(nothing);
}

/* libc allocates the second level of its table with the first value of a key of 32 or more. */
static void many_keys(void)
{
    pthread_key_t key;

    for (int i = 0; i < N_KEYS; i++)
        if (pthread_key_create(&key, free) == 0)
            pthread_setspecific(key, i == N_KEYS - 1 ? malloc(10) : NULL);
}

__attribute__((constructor)) static void first_event(void)
{
    const char *what = getenv("KF05_FIRST");

    if (what == NULL)
        return;
    if (strcmp(what, "atexit") == 0)
        many_atexit();
    else
        many_keys();
}

static int use_heap(void)
{
    const unsigned long *calls = dlsym(RTLD_DEFAULT, "kf05_hook_calls");
    char *p = malloc(100);

    if (p == NULL || (p = realloc(p, 300000)) == NULL)
        return 1;
    memset(p, 1, 300000);
    free(p);
    printf("%lu", calls != NULL ? *calls : 0);
    return 0;
}

static void expect_fine(const char *part, const char *const *env)
{
    const char *const again[] = {tk_self(), "use", NULL};
    struct tk_exec e = {.argv = again, .env = env, .limit_s = 20};

    tk_run(&e);
    tk_check(e.status == 0, "%s: %s: %s", part, tk_status_text(e.status), e.out);
    tk_note("%s %s", part, e.status == 0 ? "fine" : "bad");
}

int main(int argc, char **argv)
{
    static char before[8192], after[8192];
    const char *preload = getenv("LD_PRELOAD");

    if (argc > 1 && strcmp(argv[1], "use") == 0)
        return use_heap();
    tk_init("kf05", "entered again while initialising", argc, argv);
    snprintf(after, sizeof after, "LD_PRELOAD=%s%s%s", preload ? preload : "", preload ? ":" : "",
             tk_beside("kf05_hook.so"));
    snprintf(before, sizeof before, "LD_PRELOAD=%s%s%s", tk_beside("kf05_hook.so"),
             preload ? ":" : "", preload ? preload : "");
    expect_fine("wrappers after", (const char *const[]){after, NULL});
    expect_fine("wrappers before", (const char *const[]){before, NULL});
    expect_fine("atexit first", (const char *const[]){"KF05_FIRST=atexit", NULL});
    expect_fine("keys first", (const char *const[]){"KF05_FIRST=keys", NULL});
    expect_fine("atexit and wrappers", (const char *const[]){"KF05_FIRST=atexit", after, NULL});
    expect_fine("keys and wrappers", (const char *const[]){"KF05_FIRST=keys", before, NULL});
    return tk_finish();
}
