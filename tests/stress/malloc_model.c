/* SPDX-License-Identifier: MIT */
/* The random heap model over whatever malloc the process has: preloaded, linked, or the system's.
 */
#include "options.h"

int main(int argc, char **argv)
{
    struct model_config config = {.ops = &model_malloc_ops};

    options_parse(&config, argc, argv);
    return options_run("malloc_model", &config);
}
