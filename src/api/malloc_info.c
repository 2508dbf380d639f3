/* SPDX-License-Identifier: MIT */
/* glibc's windows into the heap: mallinfo, mallinfo2, malloc_stats, malloc_info. Part of the malloc libraries
 * only. Layer: L8. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "api/malloc_family.h"
#include "base/check.h"
#include "slub/stats.h"

#define EXPORT __attribute__((visibility("default")))

static void snapshot(struct slub_info *info)
{
    memset(info, 0, sizeof *info);
    info->size = sizeof *info;
    slub_snapshot(info, NULL, 0);
}

#ifdef __GLIBC__
EXPORT struct mallinfo2 mallinfo2(void)
{
    struct slub_info info;
    struct mallinfo2 mi;
    snapshot(&info);
    memset(&mi, 0, sizeof mi);
    mi.arena = info.mapped_bytes;
    mi.uordblks = info.live_bytes;
    mi.fordblks = info.mapped_bytes > info.live_bytes ? info.mapped_bytes - info.live_bytes : 0;
    mi.keepcost = info.dirty_bytes;
    mi.ordblks = 1;
    return mi;
}

static int clamp(size_t v) { return v > INT_MAX ? INT_MAX : (int)v; }

EXPORT struct mallinfo mallinfo(void)
{
    struct mallinfo2 wide = mallinfo2();
    struct mallinfo mi;
    memset(&mi, 0, sizeof mi);
    mi.arena = clamp(wide.arena);
    mi.uordblks = clamp(wide.uordblks);
    mi.fordblks = clamp(wide.fordblks);
    mi.keepcost = clamp(wide.keepcost);
    mi.ordblks = 1;
    return mi;
}
#endif

EXPORT void malloc_stats(void)
{
    char buf[256];
    struct text t = {buf, 0, sizeof buf};
    struct slub_info info;
    snapshot(&info);
    text_str(&t, "slub ");
    text_str(&t, info.version);
    text_str(&t, "\nsystem bytes     = ");
    text_dec(&t, info.mapped_bytes);
    text_str(&t, "\nin use bytes     = ");
    text_dec(&t, info.live_bytes);
    text_str(&t, "\n");
    check_write_stderr(buf, t.t_len);
    slub_slabinfo_write(2);
}

struct xml {
    FILE *file;
};

static void xml_cache(FILE *f, const struct slub_cache_info *ci)
{
    fprintf(f, "<cache name=\"%s\" size=\"%llu\" live=\"%llu\" cached=\"%llu\" total=\"%llu\" slabs=\"%llu\"/>\n",
            ci->name, (unsigned long long)ci->stride_bytes, (unsigned long long)ci->objects_live,
            (unsigned long long)ci->objects_cached, (unsigned long long)ci->objects_total,
            (unsigned long long)ci->slabs);
}

EXPORT int malloc_info(int options, FILE *f)
{
    struct slub_info info;
    if (options != 0)
        return EINVAL;
    snapshot(&info);
    fprintf(f, "<malloc version=\"1\">\n<allocator name=\"slub\" version=\"%s\" mode=\"%s\" percpu=\"%s\"/>\n",
            info.version, info.mode, info.percpu);
    enum { MAX_ROWS = 128 };
    static struct slub_cache_info rows[MAX_ROWS];
    for (size_t i = 0; i < MAX_ROWS; i++)
        rows[i].size = sizeof rows[i];
    int n = slub_snapshot(NULL, rows, MAX_ROWS);
    for (int i = 0; i < n && i < MAX_ROWS; i++)
        xml_cache(f, &rows[i]);
    fprintf(f, "<system type=\"current\" size=\"%llu\"/>\n<aspace type=\"total\" size=\"%llu\"/>\n</malloc>\n",
            (unsigned long long)info.mapped_bytes, (unsigned long long)info.reserved_bytes);
    return 0;
}
