/* SPDX-License-Identifier: MIT */
/* Case 1: key destructors that allocate and free after the allocator's own destructor ran. */
#include "known_check.h"
#include "testkit.h"

int main(int argc, char **argv)
{
    tk_init("kf01", "late key destructors", argc, argv);
    tk_known(KNOWN_LATE_KEYS, 120);
    tk_known(KNOWN_LATE_KEYS_LAST, 120);
    tk_known(KNOWN_LATE_KEYS_FREE, 120);
    return tk_finish();
}
