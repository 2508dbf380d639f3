/* SPDX-License-Identifier: MIT */
/* The slab table: the two heading lines and the columns of /proc/slabinfo 2.1, with the snapshot's numbers. */
#include "api_kit.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

/* The second line as the kernel prints it. */
static const char heading[] =
    "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> "
    "<batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n";

static FILE *table(void)
{
    FILE *f = tmpfile();
    if (f == NULL || slub_slabinfo_write(fileno(f)) != 0)
        return NULL;
    rewind(f);
    return f;
}

static void format(void *unused)
{
    char line[512], name[128], rest[8];
    void *p[3];
    (void)unused;
    struct slub_cache *c = slub_cache_create("a-cache-with-a-name-longer-than-its-column", 100, NULL, 0);
    CHECK(slub_cache_alloc_bulk(c, 0, 3, p) == 3);
    void *small = slub_alloc(8, 0), *big = slub_alloc(100000, 0);
    FILE *f = table();
    if (!CHECK(f != NULL))
        return;
    CHECK(fgets(line, sizeof line, f) != NULL && strcmp(line, "slabinfo - version: 2.1\n") == 0);
    CHECK(fgets(line, sizeof line, f) != NULL && strcmp(line, heading) == 0);
    int n_rows = 0, n_known = 0;
    while (fgets(line, sizeof line, f) != NULL) {
        unsigned long long v[11];
        int n = sscanf(line,
                       "%127s %llu %llu %llu %llu %llu : tunables %llu %llu %llu : slabdata %llu %llu %llu %7s", name,
                       &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9], &v[10], rest);
        tk_check(n == 12, "%d fields in: %s", n, line);
        if (n != 12)
            continue;
        n_rows++;
        struct slub_cache_info ci;
        if (!tk_check(kit_find(name, &ci), "%s is in no snapshot", name))
            continue;
        CHECK(v[0] == ci.objects_live && v[1] == ci.objects_total && v[3] == ci.objects_per_slab);
        CHECK(v[0] <= v[1] && v[8] == ci.slabs && v[9] == ci.slabs + ci.slabs_empty && v[10] == 0);
        CHECK(v[5] == ci.sheaf_capacity && v[6] == 0 && v[7] == 0);
        if (strcmp(name, "large") != 0)
            CHECK(v[2] == ci.stride_bytes && v[4] * (unsigned)sysconf(_SC_PAGESIZE) == ci.slab_bytes);
        n_known += strcmp(name, "a-cache-with-a-name-longer-than-its-column") == 0 && v[0] == 3;
        n_known += strcmp(name, "kmalloc-8") == 0 && v[0] == 1;
        n_known += strcmp(name, "large") == 0 && v[0] == 1;
    }
    fclose(f);
    tk_check(n_known == 3, "%d of 3 rows as expected", n_known);
    CHECK(n_rows == slub_snapshot(NULL, NULL, 0));
    slub_free(small);
    slub_free(big);
    slub_cache_free_bulk(c, 3, p);
    CHECK(slub_cache_destroy(c) == 0);
}

/* Short writes and errors of the file. */
static void files(void *unused)
{
    int fds[2];
    (void)unused;
    slub_free(slub_alloc(8, 0));
    CHECK(slub_slabinfo_write(-1) == -EBADF);
    int full = open("/dev/full", O_WRONLY);
    if (full >= 0)
        CHECK(slub_slabinfo_write(full) == -ENOSPC);
    CHECK(pipe(fds) == 0);
    CHECK(slub_slabinfo_write(fds[0]) == -EBADF); /* the reading end */
    CHECK(slub_slabinfo_write(fds[1]) == 0);
    char got[64] = {0};
    CHECK(read(fds[0], got, 24) == 24 && strcmp(got, "slabinfo - version: 2.1\n") == 0);
}

/* Before anything was allocated. */
static void unused_allocator(void *unused)
{
    char line[512];
    (void)unused;
    FILE *f = table();
    if (!CHECK(f != NULL))
        return;
    CHECK(fgets(line, sizeof line, f) != NULL && strcmp(line, "slabinfo - version: 2.1\n") == 0);
    CHECK(fgets(line, sizeof line, f) != NULL && strcmp(line, heading) == 0);
    fclose(f);
}

int main(int argc, char **argv)
{
    tk_init("api", "slab table", argc, argv);
    tk_child("unused", unused_allocator, NULL, 30);
    tk_child("format", format, NULL, 30);
    tk_child("files", files, NULL, 30);
    return tk_finish();
}
