/* SPDX-License-Identifier: MIT */
/* The stack of sheaves; see barn.h. Layer: L5. Locking: bn_lock.
 * Source of the working-set rule: the low-water mark of Bonwick & Adams, "Magazines and Vmem" (2001),
 * section 3.3, with the interval of design.md. */
#include "barn/barn.h"

#include <string.h>

#include "os/os.h"
#include "region/meta.h"
#include "service/options.h"

enum { EPOCH_MS = 1000, MAX_SPARES = 8 };

_Static_assert(sizeof(struct sheaf) == SHEAF_HEAD_BYTES, "barn.h");

/* What all barns keep; compared with options.barn_total_bytes. */
static _Atomic uint64_t total_bytes;

static size_t sheaf_bytes(const struct barn *bn) { return (8 * sizeof(struct entry)) << bn->bn_sheaf_order; }

/* What it may keep before it has learnt anything: one sheaf at least. */
static uint64_t first_bytes(const struct barn *bn)
{
    uint64_t sheaf = (uint64_t)bn->bn_object_bytes * SHEAF_OBJS(bn->bn_sheaf_order);
    return min_size(max_size(BARN_FIRST_BYTES, sheaf), options.barn_bytes);
}

void barn_init(struct barn *bn, size_t stride_bytes, unsigned sheaf_order)
{
    memset((void *)bn, 0, sizeof *bn);
    bn->bn_object_bytes = (uint32_t)(stride_bytes + sizeof(struct entry));
    bn->bn_sheaf_order = sheaf_order;
    bn->bn_limit_bytes = first_bytes(bn);
}

static void drop_locked(struct barn *bn, struct sheaf *sh)
{
    if (bn->bn_n_spares >= MAX_SPARES) {
        meta_free(sh, sheaf_bytes(bn));
        return;
    }
    sh->sh_next = bn->bn_spares;
    bn->bn_spares = sh;
    bn->bn_n_spares++;
}

static struct sheaf *spare_locked(struct barn *bn)
{
    struct sheaf *sh = bn->bn_spares;
    if (sh != NULL) {
        bn->bn_spares = sh->sh_next;
        bn->bn_n_spares--;
        return sh;
    }
    return meta_alloc(sheaf_bytes(bn));
}

/* A sheaf counts as full from the moment it is on the stack, so that the shared total moves once a sheaf. */
static void account(const struct barn *bn, int sheaves)
{
    int64_t bytes = (int64_t)bn->bn_object_bytes * SHEAF_OBJS(bn->bn_sheaf_order) * sheaves;
    atomic_fetch_add_explicit(&total_bytes, (uint64_t)bytes, memory_order_relaxed);
}

static uint64_t n_objs_locked(const struct barn *bn)
{
    return atomic_load_explicit(&bn->bn_n_objs, memory_order_relaxed);
}

static void set_n_objs_locked(struct barn *bn, uint64_t n)
{
    atomic_store_explicit(&bn->bn_n_objs, n, memory_order_relaxed);
}

static bool has_room_locked(const struct barn *bn)
{
    uint64_t sheaf = (uint64_t)bn->bn_object_bytes * SHEAF_OBJS(bn->bn_sheaf_order);
    return n_objs_locked(bn) * bn->bn_object_bytes + sheaf <= bn->bn_limit_bytes &&
           atomic_load_explicit(&total_bytes, memory_order_relaxed) + sheaf <= options.barn_total_bytes;
}

static void taken_locked(struct barn *bn, struct sheaf *sh, size_t k)
{
    sh->sh_n_objs -= k;
    uint64_t left = n_objs_locked(bn) - k;
    set_n_objs_locked(bn, left);
    if (left < bn->bn_low)
        bn->bn_low = left;
    if (sh->sh_n_objs == 0) {
        bn->bn_top = sh->sh_next;
        account(bn, -1);
        drop_locked(bn, sh);
    }
}

/* The top sheaf when it has room, else a new top; NULL when the barn may not keep more. */
static struct sheaf *room_locked(struct barn *bn)
{
    struct sheaf *sh = bn->bn_top;
    if (sh != NULL && sh->sh_n_objs < SHEAF_OBJS(bn->bn_sheaf_order))
        return sh;
    sh = has_room_locked(bn) ? spare_locked(bn) : NULL;
    if (sh == NULL)
        return NULL;
    sh->sh_n_objs = 0;
    sh->sh_next = bn->bn_top;
    bn->bn_top = sh;
    account(bn, 1);
    return sh;
}

/* Allow twice as much as slabs will serve this time, and less for the time that has passed. */
void barn_learn(struct barn *bn)
{
    uint64_t now = os_clock_ms();
    lock_acquire(&bn->bn_lock);
    uint64_t n = min_size(SHEAF_OBJS(bn->bn_sheaf_order), bn->bn_n_refused);
    uint64_t passed = now > bn->bn_learnt_ms ? min_size(now - bn->bn_learnt_ms, UINT32_MAX) : 0;
    uint64_t leaked = passed * BARN_LEAK_OBJS * bn->bn_object_bytes, first = first_bytes(bn);
    uint64_t left = bn->bn_limit_bytes > first + leaked ? bn->bn_limit_bytes - leaked : first;
    bn->bn_n_refused -= n;
    bn->bn_limit_bytes = min_size(left + 2 * n * bn->bn_object_bytes, options.barn_bytes);
    bn->bn_learnt_ms = now;
    lock_release(&bn->bn_lock);
}

struct sheaf *barn_open_filled(struct barn *bn, bool counts)
{
    lock_acquire(&bn->bn_lock);
    struct sheaf *sh = bn->bn_top;
    bn->bn_count.bc_gets += counts;
    if (sh != NULL)
        return sh;
    bn->bn_count.bc_get_fails += counts;
    lock_release(&bn->bn_lock);
    return NULL;
}

void barn_close_taken(struct barn *bn, struct sheaf *sh, size_t k)
{
    taken_locked(bn, sh, k);
    bn->bn_count.bc_get_objs += k;
    lock_release(&bn->bn_lock);
}

struct sheaf *barn_open_room(struct barn *bn, size_t n_offered)
{
    lock_acquire(&bn->bn_lock);
    struct sheaf *sh = room_locked(bn);
    bn->bn_count.bc_puts++;
    if (sh != NULL)
        return sh;
    bn->bn_count.bc_put_fails += n_offered;
    bn->bn_n_refused += n_offered;
    lock_release(&bn->bn_lock);
    return NULL;
}

void barn_close_put(struct barn *bn, struct sheaf *sh, size_t k)
{
    bn->bn_count.bc_put_objs += k;
    set_n_objs_locked(bn, n_objs_locked(bn) + k);
    sh->sh_n_objs += k;
    if (sh->sh_n_objs == 0) { /* a new top that nothing was put into */
        bn->bn_top = sh->sh_next;
        account(bn, -1);
        drop_locked(bn, sh);
    }
    lock_release(&bn->bn_lock);
}

size_t barn_get(struct barn *bn, struct entry *e, size_t n, bool counts)
{
    struct sheaf *sh = barn_open_filled(bn, counts);
    if (sh == NULL)
        return 0;
    n = min_size(n, sh->sh_n_objs);
    memcpy(e, sh->sh_entries + sh->sh_n_objs - n, n * sizeof *e);
    barn_close_taken(bn, sh, n);
    return n;
}

size_t barn_give_up(struct barn *bn, struct entry *e, size_t n)
{
    lock_acquire(&bn->bn_lock);
    struct sheaf *sh = bn->bn_top;
    n = sh != NULL ? min_size(n, sh->sh_n_objs) : 0;
    if (n != 0) {
        memcpy(e, sh->sh_entries + sh->sh_n_objs - n, n * sizeof *e);
        taken_locked(bn, sh, n);
        bn->bn_count.bc_trims += n;
    }
    lock_release(&bn->bn_lock);
    return n;
}

uint64_t barn_total_bytes(void) { return atomic_load_explicit(&total_bytes, memory_order_relaxed); }

size_t barn_put(struct barn *bn, const struct entry *e, size_t n)
{
    size_t done = 0;
    while (done < n) {
        struct sheaf *sh = barn_open_room(bn, n - done);
        if (sh == NULL)
            break;
        size_t k = min_size(n - done, SHEAF_OBJS(bn->bn_sheaf_order) - sh->sh_n_objs);
        memcpy(sh->sh_entries + sh->sh_n_objs, e + done, k * sizeof *e);
        barn_close_put(bn, sh, k);
        done += k;
    }
    return done;
}

static bool is_over(const struct barn *bn, uint64_t now)
{
    return now - atomic_load_explicit(&bn->bn_epoch_ms, memory_order_relaxed) >= EPOCH_MS;
}

bool barn_is_due(struct barn *bn) { return is_over(bn, os_clock_ms()); /* a stale value costs one look */ }

size_t barn_trim(struct barn *bn, struct entry *e, size_t n)
{
    uint64_t now = os_clock_ms();
    lock_acquire(&bn->bn_lock);
    size_t got = 0;
    if (is_over(bn, now)) {
        /* The epoch ends when nothing idle is left. */
        if (bn->bn_low >= SHEAF_OBJS(bn->bn_sheaf_order)) {
            uint64_t low = bn->bn_low;
            struct sheaf *sh = bn->bn_top;
            got = min_size(min_size(n, low), sh->sh_n_objs);
            memcpy(e, sh->sh_entries + sh->sh_n_objs - got, got * sizeof *e);
            taken_locked(bn, sh, got);
            bn->bn_low = low - got;
            bn->bn_count.bc_trims += got;
        }
        if (got == 0 || bn->bn_low < SHEAF_OBJS(bn->bn_sheaf_order)) {
            atomic_store_explicit(&bn->bn_epoch_ms, now, memory_order_relaxed);
            bn->bn_low = n_objs_locked(bn);
        }
    }
    lock_release(&bn->bn_lock);
    return got;
}

void barn_drop_spares(struct barn *bn)
{
    lock_acquire(&bn->bn_lock);
    while (bn->bn_spares != NULL) {
        struct sheaf *sh = bn->bn_spares;
        bn->bn_spares = sh->sh_next;
        meta_free(sh, sheaf_bytes(bn));
    }
    bn->bn_n_spares = 0;
    lock_release(&bn->bn_lock);
}

uint64_t barn_n_objs(struct barn *bn)
{
    lock_acquire(&bn->bn_lock);
    uint64_t n = n_objs_locked(bn);
    lock_release(&bn->bn_lock);
    return n;
}
