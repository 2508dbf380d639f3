/* SPDX-License-Identifier: MIT */
/* Case 2: a thread that never allocates frees what many producers replace. */
#include "known_check.h"
#include "testkit.h"

int main(int argc, char **argv)
{
    tk_init("kf02", "a thread that only frees", argc, argv);
    tk_known(KNOWN_FREE_ONLY, 300);
    tk_known(KNOWN_FREE_ONLY_STOP, 300);
    tk_known(KNOWN_FREE_ONLY_EXIT, 300);
    tk_known(KNOWN_FREE_ONLY_LARGE, 300);
    return tk_finish();
}
