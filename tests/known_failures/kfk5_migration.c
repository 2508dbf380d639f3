/* SPDX-License-Identifier: MIT */
/* Case K5: preemption and migration in the middle of everything: four times more threads than CPUs,
 * moved between CPUs and interrupted at random. No object may be lost or handed out twice: each is
 * stamped by its owner. */
#include "model.h"
#include "testkit.h"

static void storm(void *unused)
{
    int ids[4];
    struct model_config config = {.ops = &model_malloc_ops,
                                  .n_threads = 4 * (unsigned)tk_cpus(ids, 4),
                                  .moves = true,
                                  .signals = true,
                                  .max_bytes = 65536,
                                  .seconds = tk_seconds(0.6, 30),
                                  .seed = tk_seed()};
    struct model_result result;

    (void)unused;
    if (config.n_threads > 64)
        config.n_threads = 64;
    tk_check(model_run(&config, &result), "an object was lost or handed out twice");
    tk_note("%u threads %llu operations %llu signals", config.n_threads,
            (unsigned long long)result.n_ops, (unsigned long long)result.n_signals);
}

int main(int argc, char **argv)
{
    tk_init("kfk5", "preemption and migration", argc, argv);
    tk_child("storm", storm, NULL, 120);
    return tk_finish();
}
