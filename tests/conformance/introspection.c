/* SPDX-License-Identifier: MIT */
/* The calls of the malloc family that report and tune: there, and sane. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "slubinfo.h"
#include "testkit.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* Deprecated, and still called by programs. */
static struct mallinfo old_mallinfo(void)
{
    return mallinfo();
}
#pragma GCC diagnostic pop

static void numbers(void *unused)
{
    const size_t block = 3u << 20;
    struct mallinfo2 before = mallinfo2(), held, after;
    struct mallinfo small;
    void *p;

    (void)unused;
    p = malloc(block);
    held = mallinfo2();
    /* A block may be counted as mapped or as in the arena. */
    tk_check(held.uordblks + held.hblkhd >= before.uordblks + before.hblkhd + block,
             "mallinfo2: %zu+%zu before, %zu+%zu with 3 MiB held", before.uordblks, before.hblkhd,
             held.uordblks, held.hblkhd);
    free(p);
    after = mallinfo2();
    tk_check(after.uordblks + after.hblkhd < held.uordblks + held.hblkhd,
             "mallinfo2 does not see a free");
    tk_check(held.arena >= held.uordblks || held.hblkhd > 0,
             "mallinfo2: more in use than there is");
    p = malloc(1000);
    small = old_mallinfo();
    tk_check(small.uordblks > 0 && (size_t)small.uordblks == mallinfo2().uordblks,
             "mallinfo says %d, mallinfo2 %zu", small.uordblks, mallinfo2().uordblks);
    free(p);
    tk_note("mallinfo2 sane");
}

/* Bytes that malloc_stats() writes to standard output and to standard error. */
static void stats_bytes(size_t *out, size_t *err)
{
    int files[2] = {memfd_create("out", MFD_CLOEXEC), memfd_create("err", MFD_CLOEXEC)};
    int saved[2] = {dup(1), dup(2)};

    for (int i = 0; i < 2; i++)
        dup2(files[i], 1 + i);
    malloc_stats();
    for (int i = 0; i < 2; i++)
        dup2(saved[i], 1 + i);
    *out = (size_t)lseek(files[0], 0, SEEK_END);
    *err = (size_t)lseek(files[1], 0, SEEK_END);
}

static void texts(void *unused)
{
    char *xml = NULL;
    size_t n = 0, out, err;
    FILE *f = open_memstream(&xml, &n);

    (void)unused;
    errno = 77;
    tk_check(malloc_info(0, f) == 0 && errno == 77, "malloc_info(0): errno %d", errno);
    fclose(f);
    tk_check(strstr(xml, "<malloc version=") != NULL && strstr(xml, "</malloc>") != NULL,
             "malloc_info wrote %zu bytes: %.60s", n, xml);
    free(xml);
    stats_bytes(&out, &err);
    tk_check(err > 0 && out == 0,
             "malloc_stats wrote %zu bytes to standard output, %zu to standard error", out, err);
    tk_note("malloc_info and malloc_stats print");
}

static void tuning(void *unused)
{
    static const int parameters[] = {M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX,
                                     M_ARENA_TEST,     M_ARENA_MAX,      M_PERTURB, M_CHECK_ACTION};

    (void)unused;
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        int value = parameters[i] == M_PERTURB ? 0 : 65536;

        tk_check(mallopt(parameters[i], value) == 1, "mallopt(%d, %d) failed", parameters[i],
                 value);
    }
    free(memset(malloc(1u << 20), 1, 1u << 20));
    tk_check(malloc_trim(0) == 1, "malloc_trim after a MiB was freed");
    tk_check(malloc_trim((size_t)1 << 40) <= 1, "malloc_trim with a large pad");
    free(malloc(100));
    tk_note("mallopt and malloc_trim answer");
}

static void slub_speaks(void *unused)
{
    const struct slub_root *root = slubinfo_root();
    struct slub_info info;
    void *p = malloc(100);

    (void)unused;
    tk_check(memcmp(root->magic, "SLUBROOT", 8) == 0 && root->layout == 1,
             "slub_root is not what it says");
    tk_check(root->malloc_owner == 1, "slub_root does not say that it owns malloc");
    tk_check(slubinfo_get(&info), "no snapshot");
    tk_check(info.live_objects > 0 && info.live_bytes > 0, "nothing is live");
    tk_check(strcmp(info.mode, root->mode) == 0 && strcmp(info.percpu, root->percpu) == 0,
             "snapshot and root disagree: %s %s, %s %s", info.mode, info.percpu, root->mode,
             root->percpu);
    free(p);
    tk_note("slub %s, mode %s, back end %s", info.version, info.mode, info.percpu);
}

int main(int argc, char **argv)
{
    tk_init("introspection", "reports and tuning", argc, argv);
    tk_child("numbers", numbers, NULL, 30);
    tk_child("texts", texts, NULL, 30);
    tk_child("tuning", tuning, NULL, 30);
    if (slubinfo_root() != NULL)
        tk_child("slub", slub_speaks, NULL, 30);
    return tk_finish();
}
