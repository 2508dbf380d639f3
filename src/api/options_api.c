/* SPDX-License-Identifier: MIT */
/* slub_options_set(). Layer: L8. */
#include <errno.h>

#include "cache/init.h"
#include "service/options.h"
#include "slub/slub.h"

int slub_options_set(const char *string)
{
    if (init_is_done)
        return -EBUSY;
    return options_parse(string) == 0 ? 0 : -EINVAL;
}
