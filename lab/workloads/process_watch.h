/* SPDX-License-Identifier: MIT */
/* The running process as the system sees it. Nothing here allocates, so it can watch any malloc. */
#ifndef SLUB_LAB_PROCESS_WATCH_H
#define SLUB_LAB_PROCESS_WATCH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

double watch_now_s(void); /* monotonic */
void watch_sleep_s(double seconds);
size_t watch_rss_bytes(void);      /* resident now */
size_t watch_peak_rss_bytes(void); /* most that was resident so far, of this address space */
size_t watch_n_maps(void);         /* lines of /proc/self/maps */
int watch_cpus(int *ids, int n);   /* CPUs this thread may run on, in order; their number */
void watch_pin(int cpu);

#ifdef __cplusplus
}
#endif
#endif
