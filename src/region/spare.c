/* SPDX-License-Identifier: MIT */
/* A queue of granules; see spare.h. Layer: L3. Locking: spare_lock. */
#include "region/spare.h"

#include "base/list.h"
#include "region/meta.h"
#include "region/region.h"

/* Each hollow one can split a mapping of the system. */
enum { MAX_HOLLOW = 512 };

struct spare {
    struct list sp_link;
    uint64_t sp_granule;
};

struct queue {
    struct list qu_list;
    size_t qu_n;
};

struct lock spare_lock;
static struct queue solid = {{&solid.qu_list, &solid.qu_list}, 0};    /* [lock:spare_lock] */
static struct queue hollow = {{&hollow.qu_list, &hollow.qu_list}, 0}; /* [lock:spare_lock] */

static void enqueue(struct queue *q, struct spare *sp)
{
    lock_acquire(&spare_lock);
    list_push_back(&q->qu_list, &sp->sp_link);
    q->qu_n++;
    lock_release(&spare_lock);
}

static struct spare *dequeue(struct queue *q, size_t keep)
{
    struct spare *sp = NULL;
    lock_acquire(&spare_lock);
    if (q->qu_n > keep) {
        sp = list_first(&q->qu_list, struct spare, sp_link);
        list_remove(&sp->sp_link);
        q->qu_n--;
    }
    lock_release(&spare_lock);
    return sp;
}

bool spare_put(uint64_t granule)
{
    struct spare *sp = meta_alloc_last(sizeof *sp);
    if (sp == NULL)
        return false;
    sp->sp_granule = granule;
    enqueue(&solid, sp);
    return true;
}

static bool may_hollow(void)
{
    lock_acquire(&spare_lock);
    bool may = hollow.qu_n < MAX_HOLLOW; /* a few more when several ask at once */
    lock_release(&spare_lock);
    return may;
}

bool spare_hollow(void)
{
    struct spare *sp = may_hollow() ? dequeue(&solid, 0) : NULL;
    if (sp == NULL)
        return false;
    bool ok = region_decommit(gmap_address(sp->sp_granule), SLUB_GRANULE_BYTES) == 0;
    enqueue(ok ? &hollow : &solid, sp);
    return ok;
}

uint64_t spare_take(size_t keep)
{
    struct spare *sp = dequeue(&solid, keep);
    if (sp == NULL && keep == 0 && (sp = dequeue(&hollow, 0)) != NULL &&
        region_commit(gmap_address(sp->sp_granule), SLUB_GRANULE_BYTES) != 0) {
        enqueue(&hollow, sp);
        sp = NULL;
    }
    if (sp == NULL)
        return REGION_NO_GRANULE;
    uint64_t granule = sp->sp_granule;
    meta_free(sp, sizeof *sp);
    return granule;
}
