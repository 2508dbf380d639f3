/* SPDX-License-Identifier: MIT */
/* Case 13: growing by realloc must move pages, not bytes, and must not hold old and new at once. */
#include "known_check.h"
#include "testkit.h"

int main(int argc, char **argv)
{
    tk_init("kf13", "realloc growth", argc, argv);
    tk_known(KNOWN_REALLOC_SPARSE, 60);
    tk_known(KNOWN_REALLOC_STEPS, 60);
    tk_known(KNOWN_REALLOC_DENSE, 60);
    tk_known(KNOWN_REALLOC_BYTES, 60);
    return tk_finish();
}
