/* SPDX-License-Identifier: MIT */
/* Owns case K9: allocated on one CPU, freed on another. It must not collapse against both on one
 * CPU, nor pile up.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/known_cases.h"
#include "workloads/process_watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { RING = 4096, BYTES = 256 };

static struct {
    _Alignas(128) atomic_size_t head; /* written by the consumer */
    _Alignas(128) atomic_size_t tail; /* written by the producer */
    _Alignas(128) void *slots[RING];
} ring;

static atomic_bool must_stop;
static int producer_cpu, consumer_cpu;
static size_t n_passed;
static double producer_busy, consumer_busy; /* seconds on a CPU */

/* Other programs may hold a CPU for longer than the whole case; what counts is the time that was
 * had. */
static double busy_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *produce(void *unused)
{
    size_t tail = 0;

    watch_pin(producer_cpu);
    while (!atomic_load_explicit(&must_stop, memory_order_relaxed)) {
        if (tail - atomic_load_explicit(&ring.head, memory_order_acquire) == RING) {
            watch_sleep_s(20e-6);
            continue;
        }
        char *p = malloc(BYTES);
        p[0] = 1;
        ring.slots[tail % RING] = p;
        atomic_store_explicit(&ring.tail, ++tail, memory_order_release);
    }
    producer_busy = busy_now();
    return unused;
}

static void *consume(void *unused)
{
    size_t head = 0;

    watch_pin(consumer_cpu);
    while (!atomic_load_explicit(&must_stop, memory_order_relaxed)) {
        if (head == atomic_load_explicit(&ring.tail, memory_order_acquire)) {
            watch_sleep_s(20e-6);
            continue;
        }
        free(ring.slots[head % RING]);
        atomic_store_explicit(&ring.head, ++head, memory_order_release);
    }
    n_passed = head;
    consumer_busy = busy_now();
    return unused;
}

/* Objects per second that CPUs worked: on one CPU both sides take turns, on two the busier one
 * decides. 0 when threads could not be had. */
static double passed_per_second(int from, int to, double seconds)
{
    pthread_t p;
    pthread_t c;

    producer_cpu = from;
    consumer_cpu = to;
    atomic_store(&must_stop, false);
    if (pthread_create(&p, NULL, produce, NULL) != 0)
        return 0;
    if (pthread_create(&c, NULL, consume, NULL) != 0)
        return 0;
    watch_sleep_s(seconds);
    atomic_store(&must_stop, true);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    for (size_t i = atomic_load(&ring.head); i < atomic_load(&ring.tail); i++)
        free(ring.slots[i % RING]);
    atomic_store(&ring.head, 0);
    atomic_store(&ring.tail, 0);
    if (from == to)
        return (double)n_passed / (producer_busy + consumer_busy);
    return (double)n_passed / (producer_busy > consumer_busy ? producer_busy : consumer_busy);
}

const char *known_cross_cpu(const struct known_form *form, uint64_t *figures)
{
    const double seconds = known_seconds(form, 0.4, 10);
    int ids[2];

    if (watch_cpus(ids, 2) < 2)
        return "one CPU only";
    const double same = passed_per_second(ids[0], ids[0], seconds);
    const double two = passed_per_second(ids[0], ids[1], seconds);
    figures[0] = known_per_mille(two, same);
    figures[1] = watch_peak_rss_bytes();
    return NULL;
}
