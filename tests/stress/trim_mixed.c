/* SPDX-License-Identifier: MIT */
/* malloc_trim between blocks that live on: of blocks of many sizes, every second, every fourth, a random half, or long
 * stretches are freed, by one thread or by several that are idle afterwards. What is left is known to the page: of the
 * pages that only freed blocks lay in, none may have memory after the trim, and those that live hold what they held. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rng.h"
#include "stamp.h"
#include "testkit.h"

enum { N_THREADS = 3, N_BLOCKS = 4000, STRETCH = 71, N_LARGE = 10, RECORD_BYTES = 4 << 20 };

struct block {
    char *p;
    size_t bytes; /* usable */
    bool lives;
};

enum pattern { SECOND, FOURTH, RANDOM, STRETCHES, N_PATTERNS };
static const char *const pattern_names[] = {"every second", "every fourth", "random", "stretches"};

struct job {
    struct block *blocks;
    struct rng rng;
    enum pattern pattern;
    pthread_barrier_t *idle;
};

static size_t page;

static size_t size_of(struct rng *r, size_t i, enum pattern pattern)
{
    if (i < N_LARGE)
        return rng_size(r, 33000, 3u << 20);
    /* One size for a while, so that whole pages become free among the small ones too. */
    static const size_t sizes[] = {8, 24, 48, 64, 100, 256, 700, 1500, 3000, 4096, 5000, 9000, 16384, 32768};
    size_t n = sizeof sizes / sizeof *sizes;
    return pattern == STRETCHES ? sizes[i / (N_BLOCKS / n + 1)] : sizes[rng_below(r, n)];
}

static bool is_freed(struct rng *r, size_t i, enum pattern pattern)
{
    switch (pattern) {
    case SECOND: return i % 2 == 0;
    case FOURTH: return i % 4 == 0;
    case RANDOM: return rng_below(r, 2) == 0;
    default: return i / STRETCH % 2 == 0;
    }
}

static void fill_and_free(struct job *j)
{
    for (size_t i = 0; i < N_BLOCKS; i++) {
        struct block *b = &j->blocks[i];
        b->p = malloc(size_of(&j->rng, i, j->pattern));
        if (!tk_check(b->p != NULL, "out of memory"))
            _exit(1);
        b->bytes = malloc_usable_size(b->p);
        b->lives = true;
        stamp_fill(b->p, b->bytes, i);
    }
    for (size_t i = 0; i < N_BLOCKS; i++)
        if (is_freed(&j->rng, i, j->pattern)) {
            j->blocks[i].lives = false;
            free(j->blocks[i].p);
        }
}

static void *thread_main(void *job)
{
    struct job *j = job;
    fill_and_free(j);
    pthread_barrier_wait(j->idle);
    pthread_barrier_wait(j->idle); /* what it has at hand is not given back by its end */
    return NULL;
}

static int by_address(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    return x->p < y->p ? -1 : x->p > y->p;
}

/* Pages with memory in [from, to); none where nothing is mapped. */
static size_t n_resident(uintptr_t from, uintptr_t to)
{
    size_t n = 0;
    for (uintptr_t at = from; at < to; at += page) {
        unsigned char here;
        n += mincore((void *)at, page, &here) == 0 && (here & 1) != 0;
    }
    return n;
}

/* Of the pages that blocks lay in, those without one that lives: how many there are, and how many have memory. */
static void count_free_pages(const struct block *b, size_t n, size_t *n_free, size_t *n_kept)
{
    uintptr_t done = 0; /* below: counted, or in use */
    *n_free = *n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        uintptr_t from = (uintptr_t)b[i].p & ~(page - 1);
        uintptr_t to = ((uintptr_t)b[i].p + b[i].bytes + page - 1) & ~(page - 1);
        if (from < done)
            from = done;
        if (b[i].lives) {
            if (to > done)
                done = to;
            continue;
        }
        for (; from < to; from += page) {
            bool lives = false;
            for (size_t k = i + 1; k < n && (uintptr_t)b[k].p < from + page && !lives; k++)
                lives = b[k].lives;
            *n_free += !lives;
            *n_kept += lives ? 0 : n_resident(from, from + page);
            done = from + page;
        }
    }
}

static void trim_and_check(struct block *blocks, size_t n, const char *what)
{
    size_t n_free, n_kept, n_dirty, rss = tk_rss();
    count_free_pages(blocks, n, &n_free, &n_dirty);
    malloc_trim(0);
    size_t after = tk_rss();
    count_free_pages(blocks, n, &n_free, &n_kept);
    tk_check(n_free > 100, "%s: only %zu pages are free", what, n_free);
    tk_check(n_kept == 0, "%s: of %zu free pages, %zu had memory and %zu have", what, n_free, n_dirty, n_kept);
    /* The trim needs records of its own, for what was at hand. */
    tk_check(after + n_dirty * page <= rss + RECORD_BYTES,
             "%s: %zu KiB with %zu pages to give back, then %zu KiB", what, rss >> 10, n_dirty, after >> 10);
    tk_note("%s %zu of %zu pages", what, n_dirty - n_kept, n_dirty);
}

static void run(void *job)
{
    struct job *j = job, jobs[N_THREADS];
    unsigned n_threads = j->idle != NULL ? N_THREADS : 0;
    size_t n = (n_threads != 0 ? n_threads : 1) * (size_t)N_BLOCKS;
    struct block *blocks =
        mmap(NULL, n * sizeof *blocks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    pthread_t t[N_THREADS];
    pthread_barrier_t idle;
    char what[40];

    snprintf(what, sizeof what, "%s%s", pattern_names[j->pattern], n_threads != 0 ? " of threads" : "");
    if (n_threads != 0)
        pthread_barrier_init(&idle, NULL, n_threads + 1);
    for (unsigned i = 0; i < n_threads; i++) {
        jobs[i] = (struct job){blocks + (size_t)i * N_BLOCKS, {j->rng.s + i}, j->pattern, &idle};
        tk_check(pthread_create(&t[i], NULL, thread_main, &jobs[i]) == 0, "pthread_create");
    }
    if (n_threads == 0) {
        j->blocks = blocks;
        fill_and_free(j);
    } else {
        pthread_barrier_wait(&idle);
    }
    for (size_t i = 0; i < n; i++)
        if (blocks[i].lives)
            tk_check(stamp_first_bad(blocks[i].p, blocks[i].bytes, i % N_BLOCKS) == blocks[i].bytes,
                     "%s: damaged", what);
    /* The order of blocks is needed no more, but their stamps are. */
    struct block *sorted =
        mmap(NULL, n * sizeof *blocks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    memcpy(sorted, blocks, n * sizeof *blocks);
    qsort(sorted, n, sizeof *sorted, by_address);
    trim_and_check(sorted, n, what);
    for (size_t i = 0; i < n; i++)
        if (blocks[i].lives) {
            tk_check(stamp_first_bad(blocks[i].p, blocks[i].bytes, i % N_BLOCKS) == blocks[i].bytes,
                     "%s: damaged by the trim", what);
            free(blocks[i].p);
        }
    for (size_t i = 0; i < n; i++)
        sorted[i].lives = false;
    size_t n_free, n_kept;
    malloc_trim(0);
    count_free_pages(sorted, n, &n_free, &n_kept);
    tk_check(n_kept == 0, "%s, then all: %zu of %zu pages have memory", what, n_kept, n_free);
    if (n_threads != 0)
        pthread_barrier_wait(&idle);
    for (unsigned i = 0; i < n_threads; i++)
        pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
    pthread_barrier_t several;
    tk_init("trim", "memory between live blocks", argc, argv);
    page = (size_t)sysconf(_SC_PAGESIZE);
    for (int p = 0; p < N_PATTERNS; p++) {
        struct job alone = {.rng = {tk_seed() + (uint64_t)p}, .pattern = (enum pattern)p};
        struct job beside = alone;
        beside.idle = &several;
        tk_child(pattern_names[p], run, &alone, 60);
        tk_child(pattern_names[p], run, &beside, 60);
    }
    return tk_finish();
}
