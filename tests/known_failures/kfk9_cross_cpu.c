/* SPDX-License-Identifier: MIT */
/* Case K9: allocated on one CPU, freed on another. */
#include "known_check.h"
#include "testkit.h"

int main(int argc, char **argv)
{
    int ids[2];

    tk_init("kfk9", "across CPUs", argc, argv);
    if (tk_cpus(ids, 2) < 2)
        tk_skip("one CPU only");
    tk_known(KNOWN_CROSS_CPU, 120);
    return tk_finish();
}
