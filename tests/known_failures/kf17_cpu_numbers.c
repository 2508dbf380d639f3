/* SPDX-License-Identifier: MIT */
/* Case 17: the number of the running CPU need not be below any count of CPUs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "slubinfo.h"
#include "testkit.h"

static int last_cpu(void)
{
    int ids[1024], n = tk_cpus(ids, 1024);

    return n > 0 ? ids[(n < 1024 ? n : 1024) - 1] : 0;
}

static bool stress(bool moves)
{
    struct model_config config = {.ops = &model_malloc_ops,
                                  .n_threads = 4,
                                  .moves = moves,
                                  .seconds = tk_seconds(0.3, 10),
                                  .seed = tk_seed()};
    struct model_result result;

    return model_run(&config, &result);
}

static void pinned(void *cpu)
{
    tk_pin(*(const int *)cpu);
    tk_check(stress(false), "stress pinned to CPU %d", *(const int *)cpu);
}

static void *hold_much(void *cpu)
{
    void **blocks = malloc(32768 * sizeof *blocks);

    tk_pin(*(const int *)cpu);
    for (int i = 0; i < 32768; i++)
        blocks[i] = malloc(1024);
    return blocks;
}

/* Blocks taken on the last CPU by a thread of a process that began on the first one are counted. */
static void counted(void *cpu)
{
    struct slub_info before, after;
    pthread_t t;
    void *blocks;

    tk_pin(0);
    if (!slubinfo_get(&before)) {
        tk_note("no statistics to check");
        return;
    }
    pthread_create(&t, NULL, hold_much, cpu);
    pthread_join(t, &blocks);
    slubinfo_get(&after);
    tk_check(after.live_bytes - before.live_bytes >= 32u << 20, "32 MiB held, %.1f counted",
             (double)(after.live_bytes - before.live_bytes) / TK_MIB);
    tk_note("statistics include the last CPU");
    for (int i = 0; i < 32768; i++)
        free(((void **)blocks)[i]);
    free(blocks);
}

static void lied_to(const char *preload, const char *cpu, const char *count)
{
    const char *const again[] = {tk_self(), "stress", NULL};
    const char *const env[] = {preload, cpu, count, NULL};
    struct tk_exec e = {.argv = again, .env = env, .limit_s = 60};

    tk_run(&e);
    tk_check(e.status == 0, "%s %s: %s: %s", cpu, count, tk_status_text(e.status), e.out);
    tk_note("%s %s %s", cpu, count, e.status == 0 ? "fine" : "bad");
}

int main(int argc, char **argv)
{
    static char preload[8192];
    const char *given = getenv("LD_PRELOAD");
    bool is_child = argc > 1 && strcmp(argv[1], "stress") == 0;
    int first = 0, last;

    tk_init("kf17", "numbers of CPUs", argc, argv);
    if (is_child)
        return stress(true) ? 0 : 1;
    last = last_cpu();
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s%s%s", given ? given : "", given ? ":" : "",
             tk_beside("kf17_shim.so"));
    tk_child("first CPU", pinned, &first, 60);
    tk_child("last CPU", pinned, &last, 60);
    tk_child("statistics", counted, &last, 60);
    lied_to(preload, "KF17_CPU=1023", "KF17_COUNT=1");
    lied_to(preload, "KF17_CPU=-1", "KF17_COUNT=4096");
    return tk_finish();
}
