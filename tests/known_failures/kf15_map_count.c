/* SPDX-License-Identifier: MIT */
/* Case 15: the kernel's limit on mappings. Blocks must not cost a mapping each, and a process at
 * the limit must still be able to allocate and free. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rng.h"
#include "testkit.h"

static void untouched_blocks(void *unused)
{
    size_t n = tk_count(20000, 140000), most, maps;
    void **blocks =
        mmap(NULL, n * sizeof *blocks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *huge;

    (void)unused;
    for (size_t i = 0; i < n; i++)
        if (!tk_check((blocks[i] = malloc(200000)) != NULL, "block %zu of 200000 bytes", i))
            break;
    most = tk_maps();
    for (size_t i = 0; i < n; i += 2)
        free(blocks[i]);
    maps = tk_maps();
    most = maps > most ? maps : most;
    huge = malloc(300u << 20);
    tk_note("%zu blocks %zu maps", n, most);
    tk_check(most < 2000, "%zu lines in maps", most);
    tk_check(huge != NULL, "no 300 MiB afterwards");
    free(huge);
    for (size_t i = 1; i < n; i += 2)
        free(blocks[i]);
}

/* Growing moves pages, and every range of moved pages can become a mapping of its own. */
static void moved_blocks(void *unused)
{
    size_t n = tk_count(3000, 20000), most = 0;
    char **blocks =
        mmap(NULL, n * sizeof *blocks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)unused;
    for (size_t bytes = 50000; bytes <= 200000; bytes *= 2) {
        for (size_t i = 0; i < n; i++) {
            blocks[i] = realloc(blocks[i], bytes);
            if (!tk_check(blocks[i] != NULL, "realloc of block %zu to %zu bytes", i, bytes))
                return;
            blocks[i][0] = blocks[i][bytes - 1] = 1;
        }
        most = tk_maps() > most ? tk_maps() : most;
    }
    tk_note("%zu blocks grown by realloc %zu maps", n, most);
    tk_check(most < 2000, "%zu lines in maps after growing by realloc", most);
    for (size_t i = 0; i < n; i++)
        free(blocks[i]);
}

static size_t map_limit(void)
{
    FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
    size_t n = 65530;

    if (f != NULL) {
        if (fscanf(f, "%zu", &n) != 1)
            n = 65530;
        fclose(f);
    }
    return n;
}

/* Pages of alternating protection, until the kernel has no more mappings for this process. */
static char *use_up_maps(size_t n_pages)
{
    char *p = mmap(NULL, n_pages * 4096, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    for (size_t i = 1; p != MAP_FAILED && i < n_pages; i += 2)
        if (mprotect(p + i * 4096, 4096, PROT_NONE) != 0)
            return p;
    return MAP_FAILED;
}

static void at_the_limit(void *unused)
{
    enum { HELD = 256, AT_LIMIT = 4000 };
    size_t n_pages = map_limit() + 4096, n_null = 0;
    void *held[HELD] = {0};
    struct rng r = {.s = tk_seed()};
    char *hog;

    (void)unused;
    if (map_limit() > 1000000) {
        tk_note("vm.max_map_count is too large to reach");
        return;
    }
    for (int i = 0; i < HELD; i++)
        held[i] = malloc(rng_size(&r, 1, 300000));
    hog = use_up_maps(n_pages);
    if (!tk_check(hog != MAP_FAILED, "the limit was not reached"))
        return;
    for (int i = 0; i < AT_LIMIT; i++) {
        size_t slot = rng_below(&r, HELD), bytes = rng_size(&r, 1, 300000);

        free(held[slot]);
        errno = 77;
        held[slot] = malloc(bytes);
        if (held[slot] == NULL) {
            n_null++;
            tk_check(errno == ENOMEM, "malloc at the limit: errno %d", errno);
            tk_check(bytes > 1024, "no %zu bytes at the limit", bytes);
        } else {
            memset(held[slot], 1, bytes);
        }
    }
    munmap(hog, n_pages * 4096);
    for (int i = 0; i < HELD; i++)
        free(held[i]);
    tk_check((held[0] = malloc(100u << 20)) != NULL, "no 100 MiB when the limit is far again");
    free(held[0]);
    tk_note("at the limit %zu of %d refused", n_null, AT_LIMIT);
}

int main(int argc, char **argv)
{
    tk_init("kf15", "number of mappings", argc, argv);
    tk_child("untouched blocks", untouched_blocks, NULL, 120);
    tk_child("moved blocks", moved_blocks, NULL, 120);
    tk_child("at the limit", at_the_limit, NULL, 120);
    return tk_finish();
}
