/* SPDX-License-Identifier: MIT */
/* Case 43: restartable sequences registered by glibc, switched off, or refused by the kernel. The
 * heap works the same, and slub says which back end it took. Threads made by a raw clone() are a
 * documented limit. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model.h"
#include "sandbox.h"
#include "slubinfo.h"
#include "testkit.h"

/* Prints the back end ("-" for another malloc) and whether glibc registered an area. */
static int probe(void)
{
    struct model_config config = {.ops = &model_malloc_ops,
                                  .n_threads = 4,
                                  .forks = true,
                                  .moves = true,
                                  .signals = true,
                                  .seconds = 0.25,
                                  .seed = 43};
    struct model_result result;
    struct slub_info info;
    bool is_slub = slubinfo_get(&info);

    if (!model_run(&config, &result))
        return 1;
    printf("%s %s", is_slub ? info.percpu : "-", __rseq_size > 0 ? "registered" : "none");
    return 0;
}

static void refuse_rseq(void *err)
{
    static const int calls[] = {SYS_rseq};

    sandbox_refuse(calls, 1, *(const int *)err);
}

/* True when the area was there; its back end must fit. */
static bool run(const char *name, const char *tunable, int err)
{
    const char *const again[] = {tk_self(), "probe", NULL};
    /* The back end is to be chosen by what is there, not by an option. */
    const char *const env[] = {"SLUB_OPTIONS", tunable, NULL};
    struct tk_exec e = {.argv = again,
                        .env = env,
                        .before = err != 0 ? refuse_rseq : NULL,
                        .arg = &err,
                        .limit_s = 60};
    bool is_registered;

    tk_run(&e);
    if (!tk_check(e.status == 0, "%s: %s: %s", name, tk_status_text(e.status), e.out))
        return false;
    is_registered = strstr(e.out, "registered") != NULL;
    tk_note("%s: %s", name, e.out);
    if (e.out[0] != '-') {
        bool is_rseq = strncmp(e.out, "rseq", 4) == 0;

        tk_check(is_registered || !is_rseq, "%s: back end rseq without an area", name);
    }
    return is_registered;
}

/* The kernel's own checker of the ABI kills a process that breaks it. Needs root and a kernel that
 * has it. */
static void with_kernel_checks(void)
{
    int fd = open("/sys/kernel/debug/rseq/debug", O_RDWR | O_CLOEXEC);
    char old = '0';

    if (fd < 0) {
        tk_note("no checker in this kernel");
        return;
    }
    if (pread(fd, &old, 1, 0) == 1 && pwrite(fd, "1", 1, 0) == 1) {
        run("with the kernel's checker", "GLIBC_TUNABLES=glibc.pthread.rseq=1", 0);
        tk_check(pwrite(fd, &old, 1, 0) == 1, "the checker could not be put back");
    }
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "probe") == 0)
        return probe();
    tk_init("kf43", "rseq", argc, argv);
    run("on", "GLIBC_TUNABLES=glibc.pthread.rseq=1", 0);
    tk_check(!run("off", "GLIBC_TUNABLES=glibc.pthread.rseq=0", 0),
             "the tunable did not switch rseq off");
    tk_check(!run("ENOSYS", "GLIBC_TUNABLES", ENOSYS), "rseq in spite of ENOSYS");
    tk_check(!run("EPERM", "GLIBC_TUNABLES", EPERM), "rseq in spite of EPERM");
    with_kernel_checks();
    return tk_finish();
}
