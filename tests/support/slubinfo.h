/* SPDX-License-Identifier: MIT */
/* What slub says of itself, when it is the malloc of this process; looked up at run time, so that
 * the same program runs under any malloc. */
#ifndef SLUB_TESTS_SLUBINFO_H
#define SLUB_TESTS_SLUBINFO_H

#include <dlfcn.h>
#include <slub/stats.h>
#include <string.h>

/* Root of the slub that owns malloc, else NULL: both come from the same file. */
static inline const struct slub_root *slubinfo_root(void)
{
    void *root = dlsym(RTLD_DEFAULT, "slub_root"), *owner = dlsym(RTLD_DEFAULT, "malloc");
    Dl_info of_root, of_owner;

    if (root == NULL || owner == NULL || dladdr(root, &of_root) == 0 ||
        dladdr(owner, &of_owner) == 0)
        return NULL;
    return of_root.dli_fbase == of_owner.dli_fbase ? root : NULL;
}

/* False when slub is not there. */
static inline bool slubinfo_get(struct slub_info *info)
{
    union {
        void *object;
        int (*call)(struct slub_info *, struct slub_cache_info *, size_t);
    } f = {.object = slubinfo_root() != NULL ? dlsym(RTLD_DEFAULT, "slub_snapshot") : NULL};

    memset(info, 0, sizeof *info);
    info->size = sizeof *info;
    return f.object != NULL && f.call(info, NULL, 0) >= 0;
}

#endif
