/* SPDX-License-Identifier: MIT */
/* slub_snapshot() and the slab table of stats.h. Layer: L8. It only adds up what the layers below count. */
#include "slub/stats.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/syscall.h"
#include "cache/init.h"
#include "cache/object.h"
#include "cache/registry.h"
#include "large/large.h"
#include "os/os.h"
#include "percpu/percpu.h"
#include "region/meta.h"
#include "region/region.h"
#include "service/dirty.h"
#include "service/options.h"

const char *slub_stat_name(unsigned stat)
{
    static const char *const names[] = {
#define X(name, help) #name,
        SLUB_STATS(X)
#undef X
    };
    return stat < SLUB_N_STATS ? names[stat] : NULL;
}

static void add_counters(struct slub_cache *c, const struct pool_totals *t, uint64_t stat[SLUB_N_STATS])
{
    uint64_t fast_a = atomic_load_explicit(&c->ca_alloc_fast, memory_order_relaxed);
    uint64_t fast_f = atomic_load_explicit(&c->ca_free_fast, memory_order_relaxed);
    stat[SLUB_STAT_ALLOC_FASTPATH] = options.stats ? fast_a : SLUB_NOT_COUNTED;
    stat[SLUB_STAT_FREE_FASTPATH] = options.stats ? fast_f : SLUB_NOT_COUNTED;
    stat[SLUB_STAT_FREE_SLOWPATH] = atomic_load_explicit(&c->ca_free_grown, memory_order_relaxed);
    stat[SLUB_STAT_SHEAF_GROW] = atomic_load_explicit(&c->ca_grown, memory_order_relaxed);
    for (unsigned i = 0; i < POOL_MAX_HOMES; i++) {
        struct barn *bn = atomic_load_explicit(&c->ca_barn[i], memory_order_acquire);
        if (bn == NULL)
            continue;
        lock_acquire(&bn->bn_lock);
        stat[SLUB_STAT_ALLOC_SLOWPATH] += bn->bn_count.bc_gets;
        stat[SLUB_STAT_FREE_SLOWPATH] += bn->bn_count.bc_puts;
        stat[SLUB_STAT_BARN_GET] += bn->bn_count.bc_get_objs;
        stat[SLUB_STAT_BARN_GET_FAIL] += bn->bn_count.bc_get_fails;
        stat[SLUB_STAT_BARN_PUT] += bn->bn_count.bc_put_objs;
        stat[SLUB_STAT_BARN_PUT_FAIL] += bn->bn_count.bc_put_fails;
        stat[SLUB_STAT_BARN_TRIM] += bn->bn_count.bc_trims;
        lock_release(&bn->bn_lock);
    }
    stat[SLUB_STAT_SLAB_TAKE] = t->count.pc_take;
    stat[SLUB_STAT_SLAB_GIVE] = t->count.pc_give;
    stat[SLUB_STAT_SLAB_NEW] = t->count.pc_new;
    stat[SLUB_STAT_SLAB_REUSE] = t->count.pc_reuse;
    stat[SLUB_STAT_SLAB_EMPTY] = t->count.pc_empty;
    stat[SLUB_STAT_SLAB_FREE] = t->count.pc_free;
    stat[SLUB_STAT_REMOTE_FREE] = t->count.pc_remote;
    stat[SLUB_STAT_ORDER_FALLBACK] = t->count.pc_fallback;
    stat[SLUB_STAT_SLAB_FAIL] = t->count.pc_fail;
    /* What leaves barns and slabs for a CPU is a refill, what is offered to them a flush. */
    stat[SLUB_STAT_SHEAF_REFILL] = stat[SLUB_STAT_BARN_GET] + t->count.pc_take;
    stat[SLUB_STAT_SHEAF_FLUSH] = stat[SLUB_STAT_BARN_PUT] + stat[SLUB_STAT_BARN_PUT_FAIL];
}

static void fill_cache(struct slub_cache *c, struct slub_cache_info *ci)
{
    const struct geometry *g = &c->ca_pool.po_geometry;
    struct pool_totals t;
    /* Cached first: an object that moves meanwhile is then counted as live at worst, never below zero. */
    uint64_t n_cached = cache_n_cached(c);
    pool_totals(&c->ca_pool, &t);
    registry_name(c, ci->name);
    ci->object_bytes = c->ca_object_bytes;
    ci->stride_bytes = g->stride_bytes;
    ci->align_bytes = c->ca_align_bytes;
    ci->objects_per_slab = g->n_objs;
    ci->slab_bytes = SLUB_GRANULE_BYTES;
    ci->slabs = t.n_slabs;
    ci->slabs_partial = t.n_partial;
    ci->slabs_empty = t.n_empty;
    ci->slabs_clean = t.n_clean;
    ci->objects_live = t.n_out > n_cached ? t.n_out - n_cached : 0;
    ci->objects_cached = n_cached;
    ci->objects_total = (t.n_slabs + t.n_empty) * g->n_objs;
    ci->live_bytes = ci->objects_live * g->stride_bytes;
    ci->sheaf_capacity = percpu_capacity(c->ca_pool.po_id);
    add_counters(c, &t, ci->stat);
}

static void fill_large(struct slub_cache_info *ci)
{
    struct large_totals t;
    large_totals(&t);
    strncpy(ci->name, "large", sizeof ci->name);
    ci->objects_per_slab = 1;
    ci->align_bytes = SLUB_GRANULE_BYTES;
    ci->slabs = t.n_live;
    ci->slabs_clean = t.n_free_runs;
    ci->objects_live = ci->objects_total = t.n_live;
    ci->live_bytes = t.live_bytes;
    ci->stat[SLUB_STAT_ALLOC_FASTPATH] = ci->stat[SLUB_STAT_FREE_FASTPATH] = options.stats ? 0 : SLUB_NOT_COUNTED;
    ci->stat[SLUB_STAT_ALLOC_SLOWPATH] = t.n_allocs;
    ci->stat[SLUB_STAT_FREE_SLOWPATH] = t.n_frees;
}

/* Snapshots are filled one cache at a time, so only one struct of the library's own size is needed. */
struct walk {
    struct slub_info *info;
    char *caches;
    size_t n, n_seen;
};

static void emit(struct walk *w, const struct slub_cache_info *ci)
{
    w->info->live_objects += ci->objects_live;
    w->info->live_bytes += ci->live_bytes;
    if (w->n_seen < w->n) {
        struct slub_cache_info *out = (struct slub_cache_info *)(void *)w->caches;
        size_t size = min_size(out->size, sizeof *ci);
        memcpy((char *)out + sizeof out->size, (const char *)ci + sizeof ci->size, size - sizeof ci->size);
        w->caches += out->size;
    }
    w->n_seen++;
}

static void walk_one(struct slub_cache *c, void *arg)
{
    struct slub_cache_info ci;
    memset(&ci, 0, sizeof ci);
    fill_cache(c, &ci);
    emit(arg, &ci);
}

static void fill_info(struct slub_info *info, size_t n_caches)
{
    struct large_totals t;
    large_totals(&t);
    strncpy(info->version, SLUB_VERSION, sizeof info->version - 1);
    memcpy(info->mode, slub_root.mode, sizeof info->mode);
    memcpy(info->percpu, slub_root.percpu, sizeof info->percpu);
    memcpy(info->percpu_index, slub_root.percpu_index, sizeof info->percpu_index);
    info->n_caches = n_caches;
    info->reserved_bytes = region_reserved_bytes();
    info->mapped_bytes = region_mapped_bytes();
    info->dirty_bytes = dirty_bytes(&dirty_slabs) + dirty_bytes(&dirty_large);
    info->meta_bytes = meta_used_bytes();
    info->foreign_frees = object_foreign_frees();
    info->drain_skipped = percpu_drain_skipped();
    info->large_guards = t.n_guards;
    info->guards_refused = t.guards_refused;
}

int slub_snapshot(struct slub_info *out, struct slub_cache_info *caches, size_t n)
{
    struct slub_info info;
    struct slub_cache_info large;
    if (out != NULL && out->size < sizeof out->size)
        return -EINVAL;
    if (n != 0 && (caches == NULL || caches->size < sizeof caches->size))
        return -EINVAL;
    for (size_t i = 1; i < n; i++)
        if (((struct slub_cache_info *)(void *)((char *)caches + i * caches->size))->size != caches->size)
            return -EINVAL;
    if (lock_is_inside())
        return -EBUSY;
    if (!init_ready())
        return 0;
    memset(&info, 0, sizeof info);
    memset(&large, 0, sizeof large);
    struct walk w = {&info, (char *)caches, n, 0};
    registry_each(walk_one, &w);
    fill_large(&large);
    emit(&w, &large);
    fill_info(&info, w.n_seen);
    if (out != NULL) {
        size_t size = min_size(out->size, sizeof info);
        memcpy((char *)out + sizeof out->size, (char *)&info + sizeof info.size, size - sizeof info.size);
    }
    return (int)w.n_seen;
}

/* ---- the slab table ----------------------------------------------------------------------------- */

static int write_all(int fd, const char *buf, size_t n)
{
    while (n != 0) {
        long r = raw_syscall(SYS_write, fd, (long)buf, (long)n, 0, 0, 0);
        if (r == -EINTR)
            continue;
        if (syscall_failed(r))
            return (int)r;
        buf += r;
        n -= (size_t)r;
    }
    return 0;
}

static void text_column(struct text *t, uint64_t v, size_t width)
{
    char digits[24];
    struct text d = {digits, 0, sizeof digits - 1};
    text_dec(&d, v);
    digits[d.t_len] = 0;
    for (size_t i = d.t_len; i < width && t->t_len < t->t_size; i++)
        t->t_buf[t->t_len++] = ' ';
    text_str(t, digits);
}

static int write_row(int fd, const struct slub_cache_info *ci)
{
    char buf[256];
    struct text t = {buf, 0, sizeof buf};
    text_str(&t, ci->name);
    text_pad_to(&t, 17);
    text_str(&t, " ");
    text_column(&t, ci->objects_live, 6);
    text_str(&t, " ");
    text_column(&t, ci->objects_total, 6);
    text_str(&t, " ");
    text_column(&t, ci->stride_bytes, 6);
    text_str(&t, " ");
    text_column(&t, ci->objects_per_slab, 4);
    text_str(&t, " ");
    text_column(&t, ci->slab_bytes / os_page_size(), 4);
    text_str(&t, " : tunables ");
    text_column(&t, ci->sheaf_capacity, 4);
    text_column(&t, 0, 5);
    text_column(&t, 0, 5);
    text_str(&t, " : slabdata ");
    text_column(&t, ci->slabs, 6);
    text_str(&t, " ");
    text_column(&t, ci->slabs + ci->slabs_empty, 6);
    text_str(&t, " ");
    text_column(&t, 0, 6);
    text_str(&t, "\n");
    return write_all(fd, buf, t.t_len);
}

struct table {
    int fd, error;
};

static void row_one(struct slub_cache *c, void *arg)
{
    struct table *tb = arg;
    struct slub_cache_info ci;
    memset(&ci, 0, sizeof ci);
    fill_cache(c, &ci);
    if (tb->error == 0)
        tb->error = write_row(tb->fd, &ci);
}

int slub_slabinfo_write(int fd)
{
    static const char head[] =
        "slabinfo - version: 2.1\n"
        "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> "
        "<batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n";
    if (lock_is_inside())
        return -EBUSY;
    struct table tb = {fd, write_all(fd, head, sizeof head - 1)};
    struct slub_cache_info ci;
    if (!init_ready())
        return tb.error;
    registry_each(row_one, &tb);
    memset(&ci, 0, sizeof ci);
    fill_large(&ci);
    ci.stride_bytes = ci.objects_live != 0 ? ci.live_bytes / ci.objects_live : 0;
    return tb.error == 0 ? write_row(fd, &ci) : tb.error;
}
