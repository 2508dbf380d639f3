/* SPDX-License-Identifier: MIT */
/* What slub-bench-start hands to the runner about one measured process and those that it waited for. */
#ifndef SLUB_LAB_START_REPORT_H
#define SLUB_LAB_START_REPORT_H

#include <stdint.h>

struct start_report {
    uint64_t wall_ns; /* from before fork until after wait */
    uint64_t user_ns;
    uint64_t system_ns;
    uint64_t peak_bytes; /* of the largest process */
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t voluntary_switches;
    uint64_t forced_switches;
    int32_t status;     /* as waitpid() gives it */
    int32_t exec_errno; /* why it could not be executed, or 0 */
    int32_t is_late;    /* ended for it took too long */
};

#endif
