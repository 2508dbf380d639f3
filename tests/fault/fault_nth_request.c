/* SPDX-License-Identifier: MIT */
/* The n-th request to the system fails, alone or with all that follow, for every n that a whole life makes:
 * first use, all classes, large blocks, caches, threads, trimming.
 *
 * A call may answer NULL with ENOMEM or do less; it may not damage, lose or leak. When the system is well again
 * everything works, and the counts are exact. Each n has a process of its own. */
#include <errno.h>
#include <pthread.h>
#include <slub/slub.h>
#include <slub/stats.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/init.h"
#include "os/fault.h"
#include "service/options.h"
#include "stamp.h"
#include "testkit.h"

enum { MOST = 1024, OBJECTS = 80, MOST_N = 5000 };

struct run {
    unsigned long n;
    bool forever;
    unsigned long n_requests; /* out: made while armed */
};
static struct run *run; /* shared with the children */

#define CHECK(x) tk_check((x), "request %lu%s: line %d: %s", run->n, run->forever ? " and on" : "", __LINE__, #x)

static struct block {
    char *p;
    size_t size;
} blocks[MOST];
static size_t n_blocks;

static bool keep(void *p, size_t size)
{
    if (p == NULL)
        return false;
    stamp_fill(p, size, n_blocks);
    blocks[n_blocks++] = (struct block){p, size};
    return true;
}

static void check_contents(void)
{
    for (size_t i = 0; i < n_blocks; i++)
        CHECK(blocks[i].p == NULL || stamp_first_bad(blocks[i].p, blocks[i].size, i) == blocks[i].size);
}

static void use_classes(void)
{
    for (size_t size = 8; size <= 150000; size *= 3) {
        errno = 0;
        CHECK(keep(slub_alloc(size, 0), size) || errno == ENOMEM);
        errno = 0;
        char *z = slub_zalloc(size);
        if (z != NULL)
            CHECK(stamp_first_nonzero(z, size) == size);
        CHECK(keep(z, size) || errno == ENOMEM);
        errno = 0;
        CHECK(keep(slub_aligned_alloc(4096, size), size) || errno == ENOMEM);
    }
    /* Every other one leaves. */
    for (size_t i = 0; i < n_blocks; i += 2) {
        slub_free(blocks[i].p);
        blocks[i].p = NULL;
    }
}

static void use_realloc(void)
{
    for (size_t i = 1; i < n_blocks; i += 2) {
        struct block *b = &blocks[i];
        size_t size = b->size * 3 + 1;
        if (b->p == NULL || size > 300000)
            continue;
        errno = 0;
        char *p = slub_realloc(b->p, size);
        if (p == NULL) {
            CHECK(errno == ENOMEM && stamp_first_bad(b->p, b->size, i) == b->size);
            continue;
        }
        CHECK(stamp_first_bad(p, b->size / 8 * 8, i) == b->size / 8 * 8);
        stamp_fill(p, size, i);
        b->p = p;
        b->size = size;
        if (i % 8 == 1) { /* shrinking keeps the front, and never fails */
            p = slub_realloc(p, size / 4);
            CHECK(p != NULL && stamp_first_bad(p, size / 4 / 8 * 8, i) == size / 4 / 8 * 8);
            stamp_fill(p, size / 4, i);
            b->p = p;
            b->size = size / 4;
        }
    }
}

/* Caches that could not be drained, for lack of a fence; later they can. */
static struct slub_cache *left_over[4];
static size_t n_left_over;

static void use_cache(size_t object_bytes)
{
    void *p[OBJECTS], *bulk[OBJECTS];
    size_t n = 0;
    errno = 0;
    struct slub_cache *c = slub_cache_create("fault", object_bytes, NULL, 0);
    if (c == NULL) {
        CHECK(errno == ENOMEM);
        return;
    }
    for (size_t i = 0; i < OBJECTS; i++) {
        errno = 0;
        p[n] = slub_cache_alloc(c, 0);
        CHECK(p[n] != NULL || errno == ENOMEM);
        if (p[n] != NULL) {
            stamp_fill(p[n], object_bytes, 1000 + n);
            n++;
        }
    }
    errno = 0;
    size_t got = slub_cache_alloc_bulk(c, SLUB_ZERO, OBJECTS, bulk);
    CHECK(got == OBJECTS || (got == 0 && errno == ENOMEM));
    slub_cache_free_bulk(c, got, bulk);
    slub_cache_shrink(c);
    for (size_t i = 0; i < n; i++)
        CHECK(stamp_first_bad(p[i], object_bytes, 1000 + i) == object_bytes);
    for (size_t i = 0; i < n; i++)
        slub_cache_free(c, p[i]);
    int error = slub_cache_destroy(c);
    CHECK(error == 0 || error == -EBUSY);
    if (error != 0)
        left_over[n_left_over++] = c;
}

static void *thread(void *arg)
{
    void *p[64];
    (void)arg;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 64; i++) {
            size_t size = 8 + i % 4 * 14;
            p[i] = slub_alloc(size, 0);
            if (p[i] != NULL)
                stamp_fill(p[i], size, i);
        }
        for (size_t i = 0; i < 64; i++)
            if (p[i] != NULL) {
                CHECK(stamp_first_bad(p[i], 8 + i % 4 * 14, i) == 8 + i % 4 * 14);
                slub_free(p[i]);
            }
    }
    return NULL;
}

static void use_threads(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&t[i], NULL, thread, NULL) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}

static void live(void)
{
    use_classes();
    use_realloc();
    use_cache(5000);
    check_contents();
    use_threads();
    init_trim();
    check_contents();
}

static void check_counts(void)
{
    static struct slub_cache_info ci[128];
    struct slub_info info = {.size = sizeof info};
    for (size_t i = 0; i < 128; i++)
        ci[i].size = sizeof ci[i];
    int n = slub_snapshot(&info, ci, 128);
    uint64_t live = 0, bytes = 0;
    for (size_t i = 0; i < n_blocks; i++)
        if (blocks[i].p != NULL) {
            live++;
            bytes += slub_usable_size(blocks[i].p);
        }
    CHECK(n >= 1 && n <= 128);
    CHECK(info.live_objects == live);
    CHECK(info.live_bytes == bytes);
    for (int i = 0; i < n; i++)
        if (ci[i].slab_bytes != 0)
            CHECK(ci[i].stat[SLUB_STAT_SLAB_TAKE] - ci[i].stat[SLUB_STAT_SLAB_GIVE] ==
                  ci[i].objects_live + ci[i].objects_cached);
}

/* The system is well again. */
static void recover(void)
{
    check_contents();
    while (n_left_over != 0)
        CHECK(slub_cache_destroy(left_over[--n_left_over]) == 0);
    check_counts();
    size_t before = n_blocks;
    for (size_t size = 8; size <= 150000; size *= 3)
        CHECK(keep(slub_alloc(size, 0), size));
    use_realloc();
    use_cache(72);
    CHECK(n_left_over == 0);
    check_contents();
    check_counts();
    CHECK(n_blocks > before);
    for (size_t i = 0; i < n_blocks; i++) {
        slub_free(blocks[i].p);
        blocks[i].p = NULL;
    }
    check_counts();
    init_trim();
    check_counts();
}

static int one_life(void)
{
    int cpu;
    /* Little is kept, so that much is asked of the system. */
    options.dirty_bytes = options.large_dirty_bytes = 128 << 10;
    options.barn_bytes = 64 << 10;
    options.large_guard_bytes = 50000;
    alarm(20);
    if (tk_cpus(&cpu, 1) == 1)
        tk_pin(cpu); /* fewer slots to drain, so fewer requests that are all alike */
    fault_arm(run->n, run->forever);
    live();
    run->n_requests = fault_requests();
    fault_arm(0, false);
    recover();
    return 0;
}

static void every_request(bool forever)
{
    unsigned long n = 1;
    run->forever = forever;
    for (; n < MOST_N; n++) {
        int status;
        run->n = n;
        run->n_requests = 0;
        pid_t pid = fork();
        if (pid == 0)
            _exit(one_life());
        if (pid < 0 || waitpid(pid, &status, 0) != pid) {
            tk_check(false, "fork: %s", strerror(errno));
            return;
        }
        tk_check(status == 0, "request %lu%s: ended by %s", n, forever ? " and on" : "", tk_status_text(status));
        if (status == 0 && run->n_requests < n)
            break;
    }
    tk_check(n > 20 && n < MOST_N, "the life made %lu requests", n - 1);
    tk_note("%lu requests%s", n - 1, forever ? " and on" : "");
}

int main(int argc, char **argv)
{
    tk_init("fault", "the n-th request fails", argc, argv);
    run = mmap(NULL, sizeof *run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run == MAP_FAILED)
        return 1;
    every_request(false);
    every_request(true);
    return tk_finish();
}
