/* SPDX-License-Identifier: MIT */
/* The master stream; see entropy.h. Layer: L2. Locking: entropy_lock, a leaf. */
#include "service/entropy.h"

#include <string.h>

#include "base/lock.h"
#include "base/random.h"
#include "base/syscall.h"
#include "os/os.h"

static struct lock entropy_lock;
static struct random_stream master; /* [lock:entropy_lock] */
static bool is_seeded;

static void renew_locked(void)
{
    uint8_t seed[32];
    if (!os_random(seed, sizeof seed)) {
        /* No source: what the kernel gave the process at exec, and what differs between processes. */
        const void *given = os_given_random();
        uint64_t extra[2] = {os_clock_ms(), (uint64_t)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0)};
        memset(seed, 0, sizeof seed);
        if (given != NULL)
            memcpy(seed, given, 16);
        memcpy(seed + 16, extra, sizeof extra);
    }
    random_seed(&master, seed);
    is_seeded = true;
}

void entropy_renew(void)
{
    lock_acquire(&entropy_lock);
    renew_locked();
    lock_release(&entropy_lock);
}

void entropy_seed(uint8_t seed[32])
{
    lock_acquire(&entropy_lock);
    if (!is_seeded)
        renew_locked();
    for (int i = 0; i < 16; i++) {
        uint32_t r = random_u16(&master);
        seed[2 * i] = (uint8_t)r;
        seed[2 * i + 1] = (uint8_t)(r >> 8);
    }
    lock_release(&entropy_lock);
}

void entropy_lock_acquire(void) { lock_acquire(&entropy_lock); }
void entropy_lock_release(void) { lock_release(&entropy_lock); }
