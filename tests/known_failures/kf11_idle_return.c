/* SPDX-License-Identifier: MIT */
/* Case 11: a process that goes idle has given its memory back, and malloc_trim gives back the rest.
 */
#include "known_check.h"
#include "testkit.h"

int main(int argc, char **argv)
{
    tk_init("kf11", "idle return", argc, argv);
    tk_known(KNOWN_IDLE, 120);
    tk_known(KNOWN_TRIM, 120);
    return tk_finish();
}
