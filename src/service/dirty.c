/* SPDX-License-Identifier: MIT */
/* The counter of dirty.h. Layer: L2. */
#include "service/dirty.h"

_Atomic int64_t dirty_bytes;
