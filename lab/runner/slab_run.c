/* SPDX-License-Identifier: MIT */
/* Owns the order of a run: cases, rounds, and in every round each allocator once in random order,
 * each in a process of its own.
 *
 * A worker that has measured idles while the next ones measure (it sleeps, so it disturbs nobody)
 * and is looked at again between two measurements, when its idle time is over: the wait is paid
 * once, not for every worker.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/slab_run.h"

#include "runner/worker_proc.h"
#include "workloads/ticks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ONE    SLAB_LANES_ONE
#define EACH   SLAB_LANES_EACH
#define TWO    SLAB_LANES_TWO
#define ALL    SLAB_LANES_ALL
#define SPLIT  2
#define PAIR   1
#define KERNEL SLAB_GROUP_KERNEL
#define ADDED  SLAB_GROUP_ADDED
const struct slab_test slab_tests[SLAB_N_TESTS] = {
#define SLAB_TEST(id, number, name, heading, label, lanes, columns, group, help) \
    {number, name, heading, label, lanes, columns, group, help},
#include "workloads/slab_tests.def"
#undef SLAB_TEST
};

#define OVERSUBSCRIPTION 4  /* threads a CPU */
#define MOST_PARKED      64 /* idle workers at once */
#define NS_PER_S         1000000000u

struct parked {
    struct lab_worker worker;
    struct lab_result result;
};

struct parking {
    struct parked slots[MOST_PARKED]; /* oldest first */
    size_t n;
    uint64_t bytes; /* memory they hold */
    uint64_t most_bytes;
};

static unsigned threads_of(const struct lab_config *c, enum slab_test_id test, size_t asked)
{
    switch (test) {
    case SLAB_TEST_OVERSUBSCRIBED:
        return OVERSUBSCRIPTION * (unsigned)c->n_cpus;
    case SLAB_TEST_REMOTE_TOUCH:
        return 2;
    case SLAB_TEST_CHURN:
        return 1;
    default:
        return slab_tests[test].lanes == SLAB_LANES_ONE ? 1 : (unsigned)asked;
    }
}

const char *lab_run_skips(const struct lab_config *c, enum slab_test_id test)
{
    size_t most = 0;
    for (size_t i = 0; i < c->n_thread_counts; i++)
        most = c->thread_counts[i] > most ? c->thread_counts[i] : most;
    if (test == SLAB_TEST_REMOTE_TOUCH && c->n_cpus < 2)
        return "needs two CPUs";
    return slab_tests[test].lanes == SLAB_LANES_TWO && most < 2 ? "needs two threads" : NULL;
}

/* The kernel module's: to 4 pages with one thread, to one page with several, and always in the
 * robust form. */
static void set_sizes(const struct lab_config *c, struct lab_case *k)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t last = slab_tests[k->test].lanes == SLAB_LANES_ONE && !c->robust ? 4 * page : page;

    for (size_t s = 8; c->n_sizes == 0 && s <= last; s *= 2)
        k->sizes[k->n_sizes++] = s;
    for (size_t i = 0; i < c->n_sizes; i++)
        k->sizes[k->n_sizes++] = c->sizes[i];
}

uint64_t lab_run_memory_bytes(const struct lab_config *c)
{
    uint64_t most = 0;
    for (unsigned t = 0; t < SLAB_N_TESTS; t++) {
        struct lab_case k = {.test = (enum slab_test_id)t};
        uint64_t largest = 0;
        if (!c->tests[t])
            continue;
        set_sizes(c, &k);
        for (size_t i = 0; i < k.n_sizes; i++)
            largest = k.sizes[i] > largest ? k.sizes[i] : largest;
        for (size_t i = 0; i < c->n_thread_counts; i++) {
            const uint64_t bytes = c->count * largest * threads_of(c, k.test, c->thread_counts[i]);
            most = bytes > most ? bytes : most;
        }
    }
    return most;
}

static int make_cases(struct lab_run *run)
{
    const struct lab_config *c = run->config;

    run->cases = calloc(SLAB_N_TESTS * (c->n_thread_counts + 1), sizeof(run->cases[0]));
    if (run->cases == NULL)
        return -ENOMEM;
    for (unsigned t = 0; t < SLAB_N_TESTS; t++) {
        const enum slab_test_id test = (enum slab_test_id)t;
        if (!c->tests[t] || lab_run_skips(c, test) != NULL)
            continue;
        unsigned before = 0;
        for (size_t i = 0; i < c->n_thread_counts; i++) {
            const unsigned n_threads = threads_of(c, test, c->thread_counts[i]);
            if (n_threads == before || (slab_tests[t].lanes == SLAB_LANES_TWO && n_threads < 2))
                continue;
            struct lab_case *k = &run->cases[run->n_cases++];
            k->test = test;
            k->n_threads = before = n_threads;
            k->n_lanes =
                slab_tests[t].lanes == SLAB_LANES_EACH || slab_tests[t].lanes == SLAB_LANES_TWO
                    ? n_threads
                    : 1;
            set_sizes(c, k);
        }
    }
    return 0;
}

__attribute__((format(printf, 1, 2))) static char *word(const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    return text;
}

/* "name=1,2,3" */
static char *list_word(const char *name, const size_t *values, size_t n)
{
    const size_t room = strlen(name) + 2 + n * 21;
    char *text = malloc(room);
    if (text == NULL)
        return NULL;
    int used = snprintf(text, room, "%s=", name);
    for (size_t i = 0; i < n; i++)
        used += snprintf(text + used, room - (size_t)used, "%s%zu", i == 0 ? "" : ",", values[i]);
    return text;
}

static char *cpus_word(const struct lab_config *c)
{
    size_t *cpus = malloc(c->n_cpus * sizeof(cpus[0]));
    if (cpus == NULL)
        return NULL;
    for (size_t i = 0; i < c->n_cpus; i++)
        cpus[i] = c->cpus[i];
    char *text = list_word("cpus", cpus, c->n_cpus);
    free(cpus);
    return text;
}

#define MOST_WORDS 16

static void free_words(char **argv)
{
    for (size_t i = 0; i < MOST_WORDS; i++)
        free(argv[i]);
}

/* Starts a worker for a case, or with no case to look at it only. */
static int start(struct lab_worker *w, const struct lab_config *c, const struct lab_allocator *a,
                 const struct lab_case *k)
{
    char *argv[MOST_WORDS + 1] = {NULL};
    size_t n = 0;
    struct lab_shape shape = {0, 0, 0, 0};

    argv[n++] = strdup(a->worker);
    if (a->path != NULL)
        argv[n++] = word("expect=%s", a->path);
    if (k == NULL) {
        argv[n++] = strdup("check=1");
    } else {
        const uint64_t freers =
            c->n_freers == 0 || c->n_freers > k->n_threads ? k->n_threads : c->n_freers;
        argv[n++] = word("test=%d", (int)k->test);
        argv[n++] = word("count=%llu", (unsigned long long)c->count);
        argv[n++] = word("repeats=%llu", (unsigned long long)c->n_repeats);
        argv[n++] = word("warmup=%llu", (unsigned long long)c->n_warmup);
        argv[n++] = word("threads=%u", k->n_threads);
        argv[n++] = word("freers=%llu", (unsigned long long)freers);
        argv[n++] = word("robust=%d", c->robust ? 1 : 0);
        argv[n++] = word("seed=%llu", (unsigned long long)c->seed);
        argv[n++] = list_word("sizes", k->sizes, k->n_sizes);
        argv[n++] = cpus_word(c);
        shape = (struct lab_shape){(uint32_t)k->n_sizes, k->n_lanes, slab_tests[k->test].n_columns,
                                   (uint32_t)c->n_repeats};
    }
    char **env = lab_allocator_environ(a);
    int err = env == NULL ? -ENOMEM : 0;
    for (size_t i = 0; i < n; i++)
        err = argv[i] == NULL ? -ENOMEM : err;
    if (err == 0)
        err = lab_worker_start(w, argv, env, &shape);
    lab_environ_free(env);
    free_words(argv);
    return err;
}

static void copy_identity(struct lab_allocator *a, const struct slab_wire_head *h)
{
    memcpy(a->owner, h->owner, sizeof(a->owner));
    memcpy(a->version, h->alloc_version, sizeof(a->version));
    memcpy(a->mode, h->mode, sizeof(a->mode));
    memcpy(a->percpu, h->percpu, sizeof(a->percpu));
    memcpy(a->percpu_index, h->percpu_index, sizeof(a->percpu_index));
}

int lab_run_check(struct lab_config *config, char *why, size_t room)
{
    for (size_t i = 0; i < config->n_allocators; i++) {
        struct lab_allocator *a = &config->allocators[i];
        struct lab_worker w;
        char reason[512];
        int err = start(&w, config, a, NULL);
        if (err != 0) {
            snprintf(why, room, "%s: cannot start a worker: %s", a->label, strerror(-err));
            return -1;
        }
        err = lab_worker_wait_measured(&w, (unsigned)config->timeout_s, reason, sizeof(reason));
        if (err == 0) {
            copy_identity(a, w.shared);
            err = lab_worker_finish(&w, reason, sizeof(reason));
        }
        lab_worker_release(&w);
        if (err != 0) {
            snprintf(why, room, "%s: %s; nothing was measured", a->label, reason);
            return -1;
        }
    }
    return 0;
}

/* Keeps what the worker wrote, once nothing will change in it. */
static int keep_result(struct lab_run *run, struct parked *p)
{
    struct lab_result *r = &p->result;
    struct lab_result *more = realloc(run->results, (run->n_results + 1) * sizeof(*more));
    if (more == NULL)
        return -ENOMEM;
    run->results = more;
    r->copy = malloc(p->worker.shared_bytes);
    if (r->copy == NULL)
        return -ENOMEM;
    memcpy(r->copy, p->worker.shared, p->worker.shared_bytes);
    r->head = r->copy;
    r->sizes = slab_wire_sizes(r->copy);
    r->ticks = slab_wire_ticks(r->copy, r->head);
    run->results[run->n_results++] = *r;
    return 0;
}

static int name_failure(const struct lab_run *run, const struct parked *p, const char *reason,
                        char *why, size_t room)
{
    const struct lab_case *k = &run->cases[p->result.case_index];
    snprintf(why, room, "%s, test %s: %s", run->config->allocators[p->result.allocator_index].label,
             slab_tests[k->test].name, reason);
    return -1;
}

static void sleep_until_ns(uint64_t until_ns)
{
    uint64_t now = ticks_now_ns();
    while (now < until_ns) {
        const uint64_t left = until_ns - now;
        const struct timespec ts = {(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)};
        nanosleep(&ts, NULL);
        now = ticks_now_ns();
    }
}

static uint64_t bytes_held(const struct parked *p)
{
    return ((const struct slab_wire_head *)p->worker.shared)->rss_end_bytes;
}

/* Takes the oldest worker out, waiting for its idle time first. */
static int collect_oldest(struct lab_run *run, struct parking *lot, char *why, size_t room)
{
    struct parked p = lot->slots[0];
    char reason[512];

    lot->n--;
    memmove(&lot->slots[0], &lot->slots[1], lot->n * sizeof(lot->slots[0]));
    lot->bytes -= bytes_held(&p);
    sleep_until_ns(p.worker.measured_ns + run->config->idle_s * NS_PER_S);
    int err = lab_worker_finish(&p.worker, reason, sizeof(reason));
    if (err != 0)
        name_failure(run, &p, reason, why, room);
    else if ((err = keep_result(run, &p)) != 0)
        snprintf(why, room, "out of memory");
    lab_worker_release(&p.worker);
    return err;
}

/* Everyone whose time is over, and the oldest while the lot is too full. */
static int collect_due(struct lab_run *run, struct parking *lot, char *why, size_t room)
{
    const uint64_t idle_ns = run->config->idle_s * NS_PER_S;
    while (lot->n > 0 && (lot->n == MOST_PARKED || lot->bytes > lot->most_bytes ||
                          ticks_now_ns() - lot->slots[0].worker.measured_ns >= idle_ns)) {
        if (collect_oldest(run, lot, why, room) != 0)
            return -1;
    }
    return 0;
}

static int measure_one(struct lab_run *run, struct parking *lot, size_t case_index,
                       size_t allocator_index, unsigned round, char *why, size_t room)
{
    const struct lab_config *c = run->config;
    struct parked p = {
        .result = {.case_index = case_index, .allocator_index = allocator_index, .round = round}};
    char reason[512];

    const int err = start(&p.worker, c, &c->allocators[allocator_index], &run->cases[case_index]);
    if (err != 0)
        return name_failure(run, &p, strerror(-err), why, room);
    if (lab_worker_wait_measured(&p.worker, (unsigned)c->timeout_s, reason, sizeof(reason)) != 0) {
        lab_worker_release(&p.worker);
        return name_failure(run, &p, reason, why, room);
    }
    lot->slots[lot->n++] = p;
    lot->bytes += bytes_held(&p);
    return collect_due(run, lot, why, room);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void shuffle(size_t *order, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        const size_t j = next_random(state) % i;
        const size_t moved = order[i - 1];
        order[i - 1] = order[j];
        order[j] = moved;
    }
}

static void show_progress(size_t done, size_t all, const char *what, const char *allocator)
{
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r%zu/%zu %-16s %-16s", done, all, what, allocator);
    if (done == all)
        fprintf(stderr, "\r%48s\r", "");
}

static int measure_all(struct lab_run *run, struct parking *lot, char *why, size_t room)
{
    const struct lab_config *c = run->config;
    const size_t all = c->n_rounds * run->n_cases * c->n_allocators;
    size_t order[LAB_MAX_ALLOCATORS];
    uint64_t state = c->seed * 2 + 1; /* never zero */
    size_t done = 0;

    for (unsigned round = 0; round < c->n_rounds; round++) {
        for (size_t k = 0; k < run->n_cases; k++) {
            shuffle(order, c->n_allocators, &state);
            for (size_t i = 0; i < c->n_allocators; i++) {
                show_progress(done++, all, slab_tests[run->cases[k].test].name,
                              c->allocators[order[i]].label);
                if (measure_one(run, lot, k, order[i], round, why, room) != 0)
                    return -1;
            }
        }
    }
    while (lot->n > 0) {
        if (collect_oldest(run, lot, why, room) != 0)
            return -1;
    }
    show_progress(all, all, "", "");
    return 0;
}

int lab_run_measure(struct lab_run *run, const struct lab_config *config, char *why, size_t room)
{
    struct lab_clock clock;
    struct parking *lot = calloc(1, sizeof(*lot));

    memset(run, 0, sizeof(*run));
    run->config = config;
    run->started_unix_s = (uint64_t)time(NULL);
    lab_clock_start(&clock);
    lab_machine_describe(&run->machine);
    if (lot == NULL || make_cases(run) != 0) {
        snprintf(why, room, "out of memory");
        free(lot);
        return -1;
    }
    lot->most_bytes = lab_machine_available_bytes() / 4;
    const int err = measure_all(run, lot, why, room);
    for (size_t i = 0; i < lot->n; i++)
        lab_worker_release(&lot->slots[i].worker);
    free(lot);
    run->tick_ns = lab_clock_tick_ns(&clock);
    return err;
}

void lab_run_release(struct lab_run *run)
{
    for (size_t i = 0; i < run->n_results; i++)
        free(run->results[i].copy);
    free(run->results);
    free(run->cases);
    memset(run, 0, sizeof(*run));
}

size_t lab_run_series(const struct lab_run *run, size_t case_index, size_t allocator_index,
                      size_t size_index, int lane, unsigned column, double *out)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n_results; i++) {
        const struct lab_result *r = &run->results[i];
        if (r->case_index != case_index || r->allocator_index != allocator_index)
            continue;
        const struct slab_wire_head *h = r->head;
        const uint32_t first = lane < 0 ? 0 : (uint32_t)lane;
        const uint32_t last = lane < 0 ? h->n_lanes - 1 : (uint32_t)lane;
        for (uint32_t rep = 0; rep < h->n_repeats; rep++) {
            double sum = 0;
            for (uint32_t l = first; l <= last; l++)
                sum += (double)r->ticks[slab_wire_index(h, size_index, l, column) + rep];
            out[n++] = sum / (double)(last - first + 1) / (double)h->ops[column];
        }
    }
    return n;
}
