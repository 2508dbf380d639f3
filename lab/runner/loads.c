/* SPDX-License-Identifier: MIT */
/* Owns the table of workloads and where their programs are. */
#include "runner/loads.h"

#include "runner/places.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const struct lab_load lab_loads[] = {
#define LOAD(name, function, stresses, does_not_show, ...) {name, stresses, does_not_show, {__VA_ARGS__}},
#include "workloads/loads.def"
#undef LOAD
};
const size_t n_lab_loads = sizeof(lab_loads) / sizeof(lab_loads[0]);

/* The same objects with other paddings before them. */
static const char *const variants[] = {"slub-bench-load", "slub-bench-load-2", "slub-bench-load-3",
                                       "slub-bench-load-4"};

#define N_VARIANTS (sizeof(variants) / sizeof(variants[0]))
_Static_assert(N_VARIANTS <= COMPARE_MOST_VARIANTS, "room for every variant");

const struct lab_load *lab_load_find(const char *name)
{
    for (size_t i = 0; i < n_lab_loads; i++) {
        if (strcmp(lab_loads[i].name, name) == 0)
            return &lab_loads[i];
    }
    return NULL;
}

int lab_load_prepare(const struct lab_load *load, struct compare_config *config, char *why, size_t room)
{
    static char paths[N_VARIANTS][PATH_MAX];
    const bool has_metrics = config->n_metrics > 0;

    for (size_t i = 0; i < N_VARIANTS; i++) {
        if (places_find_helper(variants[i], paths[i], sizeof(paths[i])) != 0) {
            snprintf(why, room, "%s is not in this installation: install the whole of slub", variants[i]);
            return -1;
        }
        config->variants[i] = paths[i];
    }
    config->n_variants = N_VARIANTS;
    for (size_t i = 0; !has_metrics && i < LOADS_MOST_METRICS && load->metrics[i] != NULL; i++) {
        if (lab_metric_parse(&config->metrics[i], load->metrics[i], why, room) != 0)
            return -1;
        config->n_metrics++;
    }
    return 0;
}
