/* SPDX-License-Identifier: MIT */
/* Case 39: standard streams closed at start, and silence. The first open() of the program gets
 * number 0, and nothing of ours is written into files that happen to be number 1 or 2. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model.h"
#include "slubinfo.h"
#include "testkit.h"

static void use_heap(void)
{
    struct model_config config = {
        .ops = &model_malloc_ops, .n_threads = 2, .forks = true, .seconds = 0.1, .seed = 39};
    struct model_result result;

    if (!model_run(&config, &result))
        _exit(20);
}

static void close_streams(void *unused)
{
    (void)unused;
    for (int fd = 0; fd <= 2; fd++)
        close(fd);
}

static void free_twice(void)
{
    void *p = malloc(100);

    free(p);
    free((void *)tk_opaque((uintptr_t)p));
    _exit(0);
}

/* Files of the program sit where the streams were; what is in them at the end was not written by
 * us. */
static int closed(void)
{
    int files[3], status;
    pid_t pid;

    for (int i = 0; i < 3; i++)
        if ((files[i] = memfd_create("file", MFD_CLOEXEC)) != i)
            return 10 + i;
    use_heap();
    if (slubinfo_root() != NULL)
        free((void *)tk_opaque((uintptr_t)0xBADBEEF));
    pid = fork();
    if (pid == 0)
        free_twice();
    waitpid(pid, &status, 0);
    for (int i = 0; i < 3; i++)
        if (lseek(files[i], 0, SEEK_END) != 0)
            return 13 + i;
    return 0;
}

static void expect(const char *name, const char *mode, const char *env, void (*before)(void *))
{
    const char *const again[] = {tk_self(), mode, NULL};
    const char *const set[] = {env, NULL};
    struct tk_exec e = {
        .argv = again, .env = env != NULL ? set : NULL, .before = before, .limit_s = 30};

    tk_run(&e);
    tk_check(e.status == 0, "%s: %s", name, tk_status_text(e.status));
    tk_check(e.n_out == 0, "%s: printed %zu bytes: %s", name, e.n_out, e.out);
    tk_note("%s %s", name, e.status == 0 && e.n_out == 0 ? "fine" : "bad");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "closed") == 0)
        return closed();
    if (argc > 1 && strcmp(argv[1], "quiet") == 0) {
        use_heap();
        return 0;
    }
    tk_init("kf39", "closed streams and silence", argc, argv);
    expect("quiet", "quiet", NULL, NULL);
    expect("streams closed", "closed", NULL, close_streams);
    expect("streams closed, bad option", "closed", "SLUB_OPTIONS=no_such_option=1", close_streams);
    return tk_finish();
}
