/* SPDX-License-Identifier: MIT */
/* Short words for tests of the API; valid as C and as C++. */
#ifndef SLUB_TESTS_API_KIT_H
#define SLUB_TESTS_API_KIT_H

#include <errno.h>
#include <slub/slub.h>
#include <slub/stats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit.h"

#define CHECK(x) tk_check((x), "%s:%d: %s", __FILE__, __LINE__, #x)

/* The expression gives NULL or 0, and errno says why. */
#define CHECK_ERRNO(x, error)                                                                       \
    do {                                                                                            \
        errno = 0;                                                                                  \
        bool is_null = !(x);                                                                        \
        tk_check(is_null && errno == (error), "%s:%d: %s: null %d, errno %d", __FILE__, __LINE__,   \
                 #x, is_null, errno);                                                               \
    } while (0)

/* Stamps (as stamp.h, which is C only): byte i of a block tells whose it is. */
static inline unsigned char kit_byte(uint64_t id, size_t i)
{
    return (unsigned char)((id * 0x9e3779b97f4a7c15u ^ (i >> 3) * 0xff51afd7ed558ccdu) >> (i % 8 * 8));
}

static inline void kit_fill(void *p, size_t bytes, uint64_t id)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)p)[i] = kit_byte(id, i);
}

static inline bool kit_is_filled(const void *p, size_t bytes, uint64_t id)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)p)[i] != kit_byte(id, i))
            return false;
    return true;
}

static inline bool kit_is_all(const void *p, int byte, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)p)[i] != byte)
            return false;
    return true;
}

/* The snapshot of one cache or class; false, and all zero, when there is none. */
static inline bool kit_find(const char *name, struct slub_cache_info *found)
{
    static struct slub_cache_info all[4200];
    for (size_t i = 0; i < 4200; i++)
        all[i].size = sizeof all[i];
    memset(found, 0, sizeof *found);
    int n = slub_snapshot(NULL, all, 4200);
    for (int i = 0; i < n && i < 4200; i++)
        if (strcmp(all[i].name, name) == 0) {
            *found = all[i];
            return true;
        }
    return false;
}

static inline struct slub_info kit_info(void)
{
    struct slub_info info;
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    CHECK(slub_snapshot(&info, NULL, 0) >= 1);
    return info;
}

#endif
