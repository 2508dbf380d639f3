/* SPDX-License-Identifier: MIT */
/* The system as tests want it: the n-th request fails, there are more memory nodes than one. Layer: L1.
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
/* Memory nodes to pretend, from SLUB_TEST_NODES; 0: those of the machine. */
unsigned fault_nodes(void);
/* The node on which the calling thread is now; threads move, so that objects are freed on other nodes too. */
unsigned fault_node_here(void);
#else
SLUB_FAST bool fault_hit(void) { return false; }
SLUB_FAST unsigned fault_nodes(void) { return 0; }
SLUB_FAST unsigned fault_node_here(void) { return 0; }
#endif

#endif
