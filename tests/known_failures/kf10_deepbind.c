/* SPDX-License-Identifier: MIT */
/* A library that is opened with RTLD_DEEPBIND: its own calls go to libc, not to the preloaded
 * malloc. */
#include <stdlib.h>
#include <string.h>

char *kf10_by_strdup(void);
char *kf10_by_malloc(void);
void kf10_release(char *p);

char *kf10_by_strdup(void)
{
    return strdup("x");
}

char *kf10_by_malloc(void)
{
    return malloc(100);
}

void kf10_release(char *p)
{
    free(p);
}
