/* SPDX-License-Identifier: MIT */
/* Owns what the bodies of the known failures share: the list of them, and memory beside malloc. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/known_cases.h"

#include <sys/mman.h>
#include <unistd.h>

known_body *const known_bodies[KNOWN_N_CASES] = {
#define KNOWN_CASE(id, number, name, body, cpus, help) body,
#define KNOWN_FIGURE(id, name, unit, rule, limit)
#include "workloads/known_cases.def"
#undef KNOWN_CASE
#undef KNOWN_FIGURE
};

void *known_table(size_t n, size_t bytes)
{
    void *p = mmap(NULL, n * bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        _exit(125);
    return p;
}
