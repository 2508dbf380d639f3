/* SPDX-License-Identifier: MIT */
/* Case 30: opened late, when other libraries have used up much of the room for static TLS.
 * Usage: kf30_static_tls (the library comes in SLUB_TEST_LIB). */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testkit.h"

enum { N_COPIES = 40 };

static void *(*lib_malloc)(size_t);
static void (*lib_free)(void *);

/* A file of its own for each copy, or the loader would find it loaded already. */
static bool load_copy(const char *dir, int number)
{
    char path[300];
    struct stat st;
    int from = open(tk_beside("kf30_tls_user.so"), O_RDONLY | O_CLOEXEC), to;
    void *handle;

    snprintf(path, sizeof path, "%s/copy%d.so", dir, number);
    to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    if (from < 0 || to < 0 || fstat(from, &st) != 0)
        return false;
    while (st.st_size > 0) {
        ssize_t n = sendfile(to, from, NULL, (size_t)st.st_size);

        if (n <= 0)
            break;
        st.st_size -= n;
    }
    close(from);
    close(to);
    handle = dlopen(path, RTLD_NOW);
    unlink(path);
    return handle != NULL;
}

static void *use(void *unused)
{
    for (size_t n = 1; n < 200000; n = n * 2 + 1) {
        void *p = lib_malloc(n);

        if (p == NULL)
            return (void *)"no memory";
        memset(p, 1, n);
        lib_free(p);
    }
    return unused;
}

static void open_late(void *library)
{
    char dir[] = "/tmp/kf30.XXXXXX";
    int n_copies = 0;
    pthread_t t;
    void *handle, *failed = NULL;

    if (!tk_check(mkdtemp(dir) != NULL, "no directory for the copies"))
        return;
    while (n_copies < N_COPIES && load_copy(dir, n_copies))
        n_copies++;
    rmdir(dir);
    if (!tk_check(n_copies == N_COPIES, "only %d libraries with TLS: %s", n_copies, dlerror()))
        return;
    handle = dlopen(library, RTLD_NOW);
    if (!tk_check(handle != NULL, "dlopen: %s", dlerror()))
        return;
    *(void **)&lib_malloc = dlsym(handle, "malloc");
    *(void **)&lib_free = dlsym(handle, "free");
    tk_check(use(NULL) == NULL, "its malloc fails");
    pthread_create(&t, NULL, use, NULL);
    pthread_join(t, &failed);
    tk_check(failed == NULL, "its malloc fails in a thread");
    tk_note("opened after %d libraries with static TLS", n_copies);
}

int main(int argc, char **argv)
{
    const char *library = getenv("SLUB_TEST_LIB");
    const char *const python[] = {"/usr/bin/python3", "-c",
                                  "import ctypes, os; ctypes.CDLL(os.environ['SLUB_TEST_LIB'])",
                                  NULL};

    tk_init("kf30", "static TLS", argc, argv);
    if (library == NULL)
        tk_skip("no library named in SLUB_TEST_LIB");
    tk_child("open", open_late, (void *)(uintptr_t)library, 30);
    if (access(python[0], X_OK) == 0) {
        struct tk_exec e = {.argv = python, .limit_s = 30};

        tk_run(&e);
        tk_check(e.status == 0, "ctypes: %s: %s", tk_status_text(e.status), e.out);
        tk_note("python opens it");
    }
    return tk_finish();
}
