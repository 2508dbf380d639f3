/* SPDX-License-Identifier: MIT */
/* The countdown and the nodes behind fault.h. Layer: L1; test builds only. */
#include "os/fault.h"

#ifdef SLUB_TESTING
#include <stdatomic.h>
#include <stdlib.h>

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

unsigned fault_nodes(void)
{
    const char *given = getenv("SLUB_TEST_NODES");
    return given != NULL ? (unsigned)strtoul(given, NULL, 10) : 0;
}

unsigned fault_node_here(void)
{
    enum { CALLS_A_STAY = 50 };
    static _Atomic unsigned n_threads;
    static _Thread_local unsigned first, n_calls;
    if (n_calls++ == 0)
        first = atomic_fetch_add(&n_threads, 1);
    return (first + n_calls / CALLS_A_STAY) % fault_nodes();
}
#else
typedef int fault_c_is_empty; /* ISO C wants a declaration */
#endif
