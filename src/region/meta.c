/* SPDX-License-Identifier: MIT */
/* A bump allocator with free lists by size; see meta.h. Layer: L3. Locking: meta_lock. */
#include "region/meta.h"

#include "region/region.h"

enum {
    UNIT = 64,               /* sizes are multiples of this */
    N_LISTS = 1024,          /* one list per size up to 64 KiB */
    STEP_BYTES = 64 << 10,   /* how much is made accessible at a time */
    RESERVE_BYTES = 32 << 10 /* for meta_alloc_last() */
};

struct free_block {
    struct free_block *next;
};

struct lock meta_lock;

static struct {
    char *next, *committed, *end;
    uint64_t used_bytes;
    struct free_block *lists[N_LISTS + 1];
} meta; /* [lock:meta_lock] */

void meta_init(char *base, size_t bytes)
{
    meta.next = meta.committed = base;
    meta.end = base + bytes;
}

static bool make_room_locked(size_t want)
{
    size_t have = (size_t)(meta.committed - meta.next);
    if (want <= have)
        return true;
    size_t ask = round_up(want - have, STEP_BYTES);
    if (ask > (size_t)(meta.end - meta.committed) || region_commit(meta.committed, ask) != 0)
        return false;
    meta.committed += ask;
    return true;
}

static void *alloc(size_t bytes, size_t keep)
{
    size_t n = (bytes + UNIT - 1) / UNIT;
    if (n == 0 || n > N_LISTS)
        return NULL;
    lock_acquire(&meta_lock);
    void *p = meta.lists[n];
    if (p != NULL) {
        meta.lists[n] = ((struct free_block *)p)->next;
    } else {
        size_t want = n * UNIT;
        if (!make_room_locked(want + keep)) {
            lock_release(&meta_lock);
            return NULL;
        }
        p = meta.next;
        meta.next += want;
    }
    meta.used_bytes += n * UNIT;
    lock_release(&meta_lock);
    return p;
}

void *meta_alloc(size_t bytes) { return alloc(bytes, RESERVE_BYTES); }
void *meta_alloc_last(size_t bytes) { return alloc(bytes, 0); }

void meta_free(void *p, size_t bytes)
{
    size_t n = (bytes + UNIT - 1) / UNIT;
    struct free_block *b = p;
    lock_acquire(&meta_lock);
    b->next = meta.lists[n];
    meta.lists[n] = b;
    meta.used_bytes -= n * UNIT;
    lock_release(&meta_lock);
}

uint64_t meta_used_bytes(void)
{
    lock_acquire(&meta_lock);
    uint64_t bytes = meta.used_bytes;
    lock_release(&meta_lock);
    return bytes;
}
