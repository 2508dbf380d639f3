/* SPDX-License-Identifier: MIT */
/* The time source of the lab: the CPU's own counter, read in program order.
 *
 * x86-64: the time stamp counter, constant in rate on every CPU that can run the project, so a
 * "cycle" is one of its ticks. aarch64: the virtual counter. Elsewhere nanoseconds of
 * CLOCK_MONOTONIC_RAW.
 */
#ifndef SLUB_LAB_TICKS_H
#define SLUB_LAB_TICKS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ticks_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#if defined(__x86_64__) || defined(__i386__)
#define TICKS_NAME "TSC"
static inline uint64_t ticks_now(void)
{
    uint32_t lo;
    uint32_t hi;
    /* The fences keep the work on its own side of the reading. */
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(lo), "=d"(hi)::"memory");
    return ((uint64_t)hi << 32) | lo;
}
static inline void ticks_relax(void)
{
    __asm__ volatile("pause" ::: "memory");
}
#elif defined(__aarch64__)
#define TICKS_NAME "CNTVCT"
static inline uint64_t ticks_now(void)
{
    uint64_t v;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(v)::"memory");
    return v;
}
static inline void ticks_relax(void)
{
    __asm__ volatile("yield" ::: "memory");
}
#else
#define TICKS_NAME "CLOCK"
static inline uint64_t ticks_now(void)
{
    return ticks_now_ns();
}
static inline void ticks_relax(void)
{
    __asm__ volatile("" ::: "memory");
}
#endif

#endif
