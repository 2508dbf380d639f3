/* SPDX-License-Identifier: MIT */
/* Case 3: fork() while other threads are inside the allocator. The child must find no lock held. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "known_check.h"
#include "testkit.h"

static void *first_malloc(void *barrier)
{
    pthread_barrier_wait(barrier);
    free(malloc(1000));
    return NULL;
}

/* In a fresh process: fork against the first malloc of another thread. */
static int first_events(void)
{
    pthread_barrier_t barrier;
    pthread_t t;
    pid_t pid;
    int status = 1;

    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&t, NULL, first_malloc, &barrier);
    pthread_barrier_wait(&barrier);
    pid = fork();
    if (pid == 0)
        known_fork_child(0);
    waitpid(pid, &status, 0);
    pthread_join(t, NULL);
    return status != 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "first") == 0)
        return first_events();
    tk_init("kf03", "fork among busy threads", argc, argv);
    tk_known(KNOWN_FORKS, 300);
    tk_known(KNOWN_FORKS_THREAD, 300);
    tk_known(KNOWN_FORKS_FOUR, 300);
    for (size_t i = 0; i < tk_count(6, 200); i++) {
        const char *const again[] = {tk_self(), "first", NULL};
        struct tk_exec e = {.argv = again, .limit_s = 20};

        tk_run(&e);
        tk_check(e.status == 0, "fork as a first event: %s", tk_status_text(e.status));
    }
    return tk_finish();
}
