/* SPDX-License-Identifier: MIT */
/* Failure injection for tests: fail the n-th request to the system. Layer: L1.
 * Compiled to nothing unless SLUB_TESTING is set. */
#ifndef SLUB_OS_FAULT_H
#define SLUB_OS_FAULT_H

#include "base/compiler.h"

#ifdef SLUB_TESTING
/* Fail request number n from now (1: the next), and with `forever` all that follow. 0 switches off. */
void fault_arm(unsigned long n, bool forever);
/* Requests made since fault_arm(). */
unsigned long fault_requests(void);
bool fault_hit(void);
#else
SLUB_FAST bool fault_hit(void) { return false; }
#endif

#endif
