/* SPDX-License-Identifier: MIT */
/* A user's program: one cache, one size-class block, one snapshot, by installed headers only. */
#include <slub/slub.h>
#include <slub/stats.h>
#include <stdio.h>
#include <string.h>

struct point {
    long x, y, z;
};

int main(void)
{
    struct slub_cache *points = slub_cache_create("points", sizeof(struct point), NULL, 0);
    if (!points || slub_cache_size(points) != sizeof(struct point))
        return 1;
    struct point *point = slub_cache_zalloc(points);
    if (!point || point->x || point->y || point->z)
        return 2;
    slub_cache_free(points, point);
    if (slub_cache_destroy(points))
        return 3;

    char *text = slub_alloc(100, SLUB_ZERO);
    if (!text || slub_usable_size(text) < 100)
        return 4;
    strcpy(text, "slub");
    struct slub_info info = {.size = sizeof(info)};
    if (slub_snapshot(&info, NULL, 0) < 1 || info.live_objects < 1)
        return 5;
    slub_free(text);
    if (strcmp(slub_version(), SLUB_VERSION))
        return 6;
    printf("slub %s\n", slub_version());
    return 0;
}
