/* SPDX-License-Identifier: MIT */
/* Command line and result line of the random heap programs. Contract: options.h. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void usage(const char *program, const char *bad)
{
    fprintf(stderr,
            "%s: %s: use --threads N --seconds S --seed N --max-bytes N --slots N "
            "--signals --moves --churn --forks\n",
            program, bad);
    exit(2);
}

/* The value after argv[*i], or a failure. */
static double value_of(int argc, char **argv, int *i)
{
    char *end;
    double v;

    if (*i + 1 >= argc)
        usage(argv[0], argv[*i]);
    v = strtod(argv[*i + 1], &end);
    if (*end != 0 || v < 0)
        usage(argv[0], argv[*i + 1]);
    ++*i;
    return v;
}

static uint64_t seed_of(const char *text)
{
    return text != NULL ? strtoull(text, NULL, 0)
                        : (uint64_t)time(NULL) * 1000003u ^ (uint64_t)getpid();
}

void options_parse(struct model_config *config, int argc, char **argv)
{
    const char *seconds = getenv("SLUB_TEST_SECONDS");
    struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--signals", &config->signals},
                 {"--moves", &config->moves},
                 {"--churn", &config->churn},
                 {"--forks", &config->forks}};

    config->n_threads = 8;
    config->seconds = 3;
    config->seed = seed_of(getenv("SLUB_TEST_SEED"));
    for (int i = 1; i < argc; i++) {
        bool known = false;

        for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++)
            if (strcmp(argv[i], flags[f].name) == 0)
                known = *flags[f].flag = true;
        if (known)
            continue;
        if (strcmp(argv[i], "--threads") == 0)
            config->n_threads = (unsigned)value_of(argc, argv, &i);
        else if (strcmp(argv[i], "--seconds") == 0)
            config->seconds = value_of(argc, argv, &i);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            config->seed = seed_of(argv[++i]);
        else if (strcmp(argv[i], "--max-bytes") == 0)
            config->max_bytes = (size_t)value_of(argc, argv, &i);
        else if (strcmp(argv[i], "--slots") == 0)
            config->n_slots = (unsigned)value_of(argc, argv, &i);
        else
            usage(argv[0], argv[i]);
    }
    if (config->n_threads < 1 || config->n_threads > 1024)
        usage(argv[0], "1 to 1024 threads");
    if (seconds != NULL && strtod(seconds, NULL) < config->seconds)
        config->seconds = strtod(seconds, NULL);
}

int options_run(const char *program, struct model_config *config)
{
    struct model_result result;
    bool ok;

    /* Before the run: a crash must not take the seed with it. */
    printf("%s: SLUB_TEST_SEED=%llu\n", program, (unsigned long long)config->seed);
    fflush(stdout);
    ok = model_run(config, &result);
    printf("%s over %s: %u threads, %.1f s, %llu operations, %llu forks, %llu signals, %llu "
           "threads made: %s\n",
           program, config->ops->name, config->n_threads, config->seconds,
           (unsigned long long)result.n_ops, (unsigned long long)result.n_forks,
           (unsigned long long)result.n_signals, (unsigned long long)result.n_threads_made,
           ok ? "sound" : "BROKEN");
    return ok ? 0 : 1;
}
