/* SPDX-License-Identifier: MIT */
/* The countdown behind fault.h. Layer: L1; test builds only. */
#include "os/fault.h"

#ifdef SLUB_TESTING
#include <stdatomic.h>

static _Atomic unsigned long fail_at, requests;
static _Atomic bool fail_forever;

void fault_arm(unsigned long n, bool forever)
{
    atomic_store(&requests, 0);
    atomic_store(&fail_forever, forever);
    atomic_store(&fail_at, n);
}

unsigned long fault_requests(void) { return atomic_load(&requests); }

bool fault_hit(void)
{
    unsigned long n = atomic_fetch_add(&requests, 1) + 1;
    unsigned long at = atomic_load(&fail_at);
    return at != 0 && (n == at || (n > at && atomic_load(&fail_forever)));
}
#else
typedef int fault_c_is_empty; /* ISO C wants a declaration */
#endif
