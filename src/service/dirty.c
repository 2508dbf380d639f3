/* SPDX-License-Identifier: MIT */
/* The counters of dirty.h. Layer: L2. */
#include "service/dirty.h"

#include "service/options.h"

struct dirty dirty_slabs = {0, 0, &options.dirty_bytes};
struct dirty dirty_large = {0, 0, &options.large_dirty_bytes};
