/* SPDX-License-Identifier: MIT */
/* Owns the life of one measuring process: parameters in, shared memory out.
 *
 * Started by the runner (lab/runner), not by hand: parameters are words "name=value", the
 * descriptors are those of slab_wire.h. Exit status 0 when measured, else 1 with the reason in the
 * shared memory.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/slab_worker.h"

#include "workloads/known_cases.h"
#include "workloads/process_watch.h"
#include "workloads/ticks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_all(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

_Noreturn void slab_worker_fail(struct slab_worker *w, const char *message)
{
    if (w->head->state == SLAB_STATE_STARTED) {
        size_t n = strlen(message);
        if (n >= sizeof(w->head->message))
            n = sizeof(w->head->message) - 1;
        memcpy(w->head->message, message, n);
        w->head->message[n] = '\0';
        w->head->state = SLAB_STATE_FAILED;
    }
    _exit(1);
}

_Noreturn void slab_worker_no_memory(struct slab_worker *w)
{
    slab_worker_fail(w, "the allocator answered NULL");
}

void *slab_worker_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                   -1, 0);
    if (p == MAP_FAILED) {
        write_all("slub-bench-worker: no memory for its own tables\n");
        _exit(1);
    }
    return p;
}

static bool value_of(const char *word, const char *name, const char **value)
{
    const size_t n = strlen(name);
    if (strncmp(word, name, n) != 0 || word[n] != '=')
        return false;
    *value = word + n + 1;
    return true;
}

static unsigned long next_number(const char **list)
{
    char *end;
    const unsigned long v = strtoul(*list, &end, 10);
    *list = *end == ',' ? end + 1 : end;
    return v;
}

static void read_word(struct slab_params *p, const char *word)
{
    const char *v;
    if (value_of(word, "test", &v)) {
        p->test = (enum slab_test_id)strtoul(v, NULL, 10);
    } else if (value_of(word, "count", &v)) {
        p->count = strtoul(v, NULL, 10);
    } else if (value_of(word, "repeats", &v)) {
        p->n_repeats = strtoul(v, NULL, 10);
    } else if (value_of(word, "warmup", &v)) {
        p->n_warmup = strtoul(v, NULL, 10);
    } else if (value_of(word, "threads", &v)) {
        p->n_threads = (unsigned)strtoul(v, NULL, 10);
    } else if (value_of(word, "freers", &v)) {
        p->n_freers = (unsigned)strtoul(v, NULL, 10);
    } else if (value_of(word, "robust", &v)) {
        p->robust = strtoul(v, NULL, 10) != 0;
    } else if (value_of(word, "check", &v)) {
        p->check_only = strtoul(v, NULL, 10) != 0;
    } else if (value_of(word, "known", &v)) {
        p->is_known_case = true;
        p->known_case = (unsigned)strtoul(v, NULL, 10);
    } else if (value_of(word, "full", &v)) {
        p->is_full = strtoul(v, NULL, 10) != 0;
    } else if (value_of(word, "seed", &v)) {
        p->seed = strtoul(v, NULL, 10);
    } else if (value_of(word, "expect", &v)) {
        p->expect_path = v;
    } else if (value_of(word, "sizes", &v)) {
        while (*v != '\0' && p->n_sizes < SLAB_MAX_SIZES)
            p->sizes[p->n_sizes++] = next_number(&v);
    } else if (value_of(word, "cpus", &v)) {
        while (*v != '\0' && p->n_cpus < SLAB_MAX_CPUS)
            p->cpus[p->n_cpus++] = (uint16_t)next_number(&v);
    }
}

static bool params_are_valid(const struct slab_params *p)
{
    if (p->check_only)
        return true;
    if (p->is_known_case)
        return p->known_case < KNOWN_N_CASES;
    return p->test < SLAB_N_TESTS && p->count > 0 && p->count <= UINT32_MAX && p->n_repeats > 0 &&
           p->n_threads > 0 && p->n_freers > 0 && p->n_sizes > 0 && p->n_cpus > 0;
}

/* The runner has made the memory and written the shape of the samples; nothing else is taken on
 * trust. */
static void *map_result(void)
{
    struct stat st;
    if (fstat(SLAB_FD_RESULT, &st) != 0 || st.st_size < (off_t)sizeof(struct slab_wire_head))
        return NULL;
    void *base = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                      SLAB_FD_RESULT, 0);
    if (base == MAP_FAILED)
        return NULL;
    const struct slab_wire_head *h = base;
    if (memcmp(h->magic, SLAB_WIRE_MAGIC, sizeof(h->magic)) != 0 ||
        h->version != SLAB_WIRE_VERSION ||
        (uint64_t)st.st_size < slab_wire_bytes(h->n_sizes, h->n_lanes, h->n_columns, h->n_repeats))
        return NULL;
    return base;
}

/* Tells the runner, sleeps until it answers, and looks at the memory again. */
static void wait_idle(struct slab_wire_head *h)
{
    char byte = 'm';
    const uint64_t start = ticks_now_ns();
    ssize_t n;
    do
        n = write(SLAB_FD_CHANNEL, &byte, 1);
    while (n < 0 && errno == EINTR);
    do
        n = read(SLAB_FD_CHANNEL, &byte, 1);
    while (n < 0 && errno == EINTR);
    h->rss_idle_bytes = watch_rss_bytes();
    h->idle_ns = ticks_now_ns() - start;
}

/* The figures take the place of samples: one lane each. The library's worker has no such cases. */
static void run_known_case(struct slab_worker *w)
{
#ifdef SLAB_API_SLUB
    slab_worker_fail(w, "this worker has no known failures");
#else
    const struct known_form form = {.full = w->params.is_full, .seed = w->params.seed};
    const char *why = known_bodies[w->params.known_case](&form, w->ticks);
    if (why != NULL)
        slab_worker_fail(w, why);
#endif
}

int main(int argc, char **argv)
{
    static struct slab_worker worker;
    struct slab_worker *w = &worker;
    void *base = map_result();

    if (base == NULL) {
        write_all("slub-bench-worker: is started by 'slub bench', not by hand\n");
        return 2;
    }
    w->head = base;
    for (int i = 1; i < argc; i++)
        read_word(&w->params, argv[i]);
    if (!params_are_valid(&w->params))
        slab_worker_fail(w, "the runner's parameters are not valid");
    w->sizes = slab_wire_sizes(base);
    w->ticks = slab_wire_ticks(base, w->head);

    if (!slab_probe_owner(w)) {
        w->head->state = SLAB_STATE_REFUSED;
        return 1;
    }
    if (w->params.is_known_case)
        run_known_case(w);
    else if (!w->params.check_only)
        slab_harness_run(w);
    w->head->state = SLAB_STATE_MEASURED;
    wait_idle(w->head);
    w->head->state = SLAB_STATE_DONE;
    return 0;
}
