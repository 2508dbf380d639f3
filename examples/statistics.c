/* SPDX-License-Identifier: MIT */
/* What the allocator knows: live objects of a cache, exactly, and the slab table as the kernel
 * prints it. */
#include <slub/slub.h>
#include <slub/stats.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Live objects of the cache of that name; the table of caches is asked for twice, for its size may
 * change. */
static unsigned long long live_objects(const char *name)
{
    unsigned long long n_live = 0;
    const int n = slub_snapshot(NULL, NULL, 0) + 8;
    struct slub_cache_info *caches = calloc((size_t)n, sizeof(*caches));

    if (caches == NULL)
        return 0;
    for (int i = 0; i < n; i++)
        caches[i].size = sizeof(caches[i]);
    const int n_filled = slub_snapshot(NULL, caches, (size_t)n);
    for (int i = 0; i < n && i < n_filled; i++) {
        if (strcmp(caches[i].name, name) == 0)
            n_live = caches[i].objects_live;
    }
    free(caches);
    return n_live;
}

int main(void)
{
    enum { N = 100 };
    struct slub_cache *jobs = slub_cache_create("jobs", 48, NULL, 0);
    void *p[N];

    if (jobs == NULL || slub_cache_alloc_bulk(jobs, SLUB_ZERO, N, p) != N)
        return 1;
    const unsigned long long n_live = live_objects("jobs");
    printf("%llu jobs are live\n\n", n_live);
    fflush(stdout);
    slub_slabinfo_write(1);
    slub_cache_free_bulk(jobs, N, p);
    return !(n_live == N && live_objects("jobs") == 0 && slub_cache_destroy(jobs) == 0);
}
