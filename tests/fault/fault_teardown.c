/* SPDX-License-Identifier: MIT */
/* A cache is destroyed while the system refuses to take pages back. The cache is gone all the same: its addresses
 * belong to nobody, a late free of one is reported, and its dirty bytes are not counted for ever. */
#include <signal.h>
#include <slub/slub.h>
#include <slub/stats.h>
#include <string.h>
#include <sys/wait.h>

#include "cache/init.h"
#include "os/fault.h"
#include "service/dirty.h"
#include "testkit.h"

enum { OBJECTS = 200 };
static void *p[OBJECTS];

static void free_late(void *obj) { slub_free(obj); }

static void late_free_is_reported(void)
{
    int status = tk_child_status(free_late, p[0], 10);
    tk_check(status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
             "free after the cache was destroyed: ended with %s, not with a report", tk_status_text(status));
}

/* Requests before `from` are granted: the fences of draining, so that only the purge is refused. */
static void destroy_refused_from(void *arg)
{
    unsigned long from = *(const unsigned long *)arg;
    struct slub_cache *c = slub_cache_create("refused", 1000, NULL, 0);
    if (!tk_check(c != NULL && slub_cache_alloc_bulk(c, 0, OBJECTS, p) == OBJECTS, "set-up"))
        return;
    memset(p[0], 1, 1000);
    slub_cache_free_bulk(c, OBJECTS, p);
    fault_arm(from, true);
    int error = slub_cache_destroy(c);
    fault_arm(0, false);
    if (error != 0) { /* a fence was refused: the cache stays, and can be destroyed now */
        tk_check(slub_cache_destroy(c) == 0, "second try, refused from request %lu", from);
        tk_check(from > 0, "refused without a fault");
    }
    late_free_is_reported();
    init_trim();
    tk_check(dirty_bytes(&dirty_slabs) == 0, "%llu dirty bytes belong to no slab",
             (unsigned long long)dirty_bytes(&dirty_slabs));
}

int main(int argc, char **argv)
{
    tk_init("fault", "destroying without purging", argc, argv);
    for (unsigned long from = 0; from <= 12; from++)
        tk_child("refused", destroy_refused_from, &from, 20);
    return tk_finish();
}
