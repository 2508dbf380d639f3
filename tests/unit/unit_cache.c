/* SPDX-License-Identifier: MIT */
/* Where a cache puts what one CPU allocated and another frees, and what a drain reaches without fences. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>

#include "cache/cache.h"
#include "percpu/percpu.h"
#include "service/options.h"
#include "slub/slub.h"

enum { N_OBJS = 8192 };

static struct slub_cache *cache;
static void *objs[N_OBJS];
static int cpu[2];
static unsigned home[2];
static pthread_barrier_t step;

static bool run_on(int which)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(which, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

static unsigned home_of(const void *p)
{
    return slab_of_entry(gmap_find(p))->sl_home;
}

static void *free_on_other_cpu(void *arg)
{
    bool *ok = arg;
    *ok = run_on(cpu[1]);
    void *mine = slub_cache_alloc(cache, 0);
    *ok &= mine != NULL;
    if (*ok)
        home[1] = home_of(mine);
    pthread_barrier_wait(&step); /* the other has not allocated yet */
    pthread_barrier_wait(&step); /* it has, all of them */
    for (size_t i = 0; i < N_OBJS; i++)
        slub_cache_free(cache, objs[i]);
    slub_cache_free(cache, mine);
    pthread_barrier_wait(&step);
    return NULL;
}

/* Objects in the barn of a home, and how many of them are at home there. */
static size_t count_barn(unsigned at, size_t *at_home)
{
    size_t n = 0;
    *at_home = 0;
    for (struct sheaf *sh = cache->ca_barn[at]->bn_top; sh != NULL; sh = sh->sh_next)
        for (size_t i = 0; i < sh->sh_n_objs; i++, n++)
            *at_home += home_of(sh->sh_entries[i].en_obj) == at;
    return n;
}

/* But for the batch from which it is learnt that they come from elsewhere, objects go to the barn where they are at
 * home, so that the CPU there finds them again. */
static void freed_elsewhere_goes_home(void **state)
{
    cpu_set_t all;
    pthread_t other;
    bool ok = false;
    int n_cpus = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    for (int i = 0; i < CPU_SETSIZE && n_cpus < 2; i++)
        if (CPU_ISSET(i, &all))
            cpu[n_cpus++] = i;
    if (n_cpus < 2) {
        print_message("skipped: one CPU only\n");
        skip();
    }
    cache = slub_cache_create("unit_cache", 64, NULL, 0);
    assert_non_null(cache);
    assert_int_equal(pthread_barrier_init(&step, NULL, 2), 0);
    assert_int_equal(pthread_create(&other, NULL, free_on_other_cpu, &ok), 0);
    assert_true(run_on(cpu[0]));
    pthread_barrier_wait(&step);
    for (size_t i = 0; i < N_OBJS; i++) {
        objs[i] = slub_cache_alloc(cache, 0);
        assert_non_null(objs[i]);
    }
    home[0] = home_of(objs[N_OBJS - 1]);
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    pthread_join(other, NULL);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_true(ok);
    if (home[0] != home[1]) {
        size_t at_home, n = count_barn(home[0], &at_home);
        assert_true(n != 0);
        assert_int_equal(at_home, n);
        n = count_barn(home[1], &at_home);
        assert_true(n - at_home <= SHEAF_OBJS(cache->ca_max_order));
    } else {
        print_message("both CPUs have one home\n");
    }
    assert_int_equal(slub_cache_destroy(cache), 0);
}

static void drains_own_cpu_without_fences(void **state)
{
    enum { FEW = 100 };
    cpu_set_t all;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all)) {
            assert_true(run_on(i));
            break;
        }
    cache = slub_cache_create("unit_own", 64, NULL, 0);
    assert_non_null(cache);
    for (size_t i = 0; i < FEW; i++)
        assert_non_null(objs[i] = slub_cache_alloc(cache, 0));
    for (size_t i = 0; i < FEW; i++)
        slub_cache_free(cache, objs[i]);
    uint64_t refused = percpu_drain_skipped();
    assert_true(percpu_n_objs(cache->ca_pool.po_id) != 0);
    options.fence = 0;
    cache_drain(cache, false);
    options.fence = 1;
    assert_int_equal(percpu_n_objs(cache->ca_pool.po_id), 0);
    assert_int_equal(percpu_drain_skipped() - refused, percpu_backend() == BACKEND_RSEQ);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(slub_cache_destroy(cache), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_elsewhere_goes_home),
        cmocka_unit_test(drains_own_cpu_without_fences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
