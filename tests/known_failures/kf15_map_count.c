/* SPDX-License-Identifier: MIT */
/* Case 15: the kernel's limit on mappings. Blocks must not cost a mapping each, and a process at
 * the limit must still be able to allocate and free. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "known_check.h"
#include "rng.h"
#include "testkit.h"

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
    tk_known(KNOWN_MAPS, 120);
    tk_known(KNOWN_MAPS_MOVED, 120);
    tk_child("at the limit", at_the_limit, NULL, 120);
    return tk_finish();
}
