/* SPDX-License-Identifier: MIT */
/* Case 26: many short-lived threads. Neither memory nor mappings may grow with the dead, and a
 * thread may not cost a storm of mappings. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "known_check.h"
#include "oswatch.h"
#include "testkit.h"

static void *after_main(void *unused)
{
    tk_sleep(0.02);
    for (int i = 0; i < 1000; i++)
        free(malloc((size_t)i * 97));
    return unused;
}

static void main_leaves(void *unused)
{
    pthread_t t;

    (void)unused;
    for (int i = 0; i < 8; i++)
        pthread_create(&t, NULL, after_main, NULL);
    free(malloc(100));
    pthread_exit(NULL);
}

static void *small_life(void *unused)
{
    free(memset(malloc(3000), 1, 3000));
    free(malloc(100));
    return unused;
}

static void storm(void *unused)
{
    const size_t n = tk_count(300, 3000);
    const char *why;
    pthread_t t;
    double each;

    (void)unused;
    if (!oswatch_start(&why)) {
        tk_note("mappings not counted, %s", why);
        return;
    }
    for (size_t i = 0; i < n + 20; i++) {
        if (i == 20)
            oswatch_fail(0, false); /* the first threads fill caches: count from here */
        if (pthread_create(&t, NULL, small_life, NULL) == 0)
            pthread_join(t, NULL);
    }
    each = (double)oswatch_calls() / (double)n;
    tk_note("%.2f mapping calls per thread", each);
    tk_check(each <= 4.0, "%.2f mapping calls per thread", each);
}

int main(int argc, char **argv)
{
    tk_init("kf26", "short-lived threads", argc, argv);
    tk_known(KNOWN_CHURN, 300);
    tk_known(KNOWN_CHURN_DETACHED, 300);
    tk_known(KNOWN_CHURN_CANCELLED, 300);
    tk_child("pthread_exit in main", main_leaves, NULL, 30);
    tk_child("mappings", storm, NULL, 60);
    return tk_finish();
}
