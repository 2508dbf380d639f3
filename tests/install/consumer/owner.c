/* SPDX-License-Identifier: MIT */
/* Prints the library that malloc and free come from, and uses them a little. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *owner(const char *name)
{
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, name);
    return symbol && dladdr(symbol, &info) ? info.dli_fname : "nobody";
}

int main(void)
{
    enum { N = 1000 };
    static char *block[N];
    for (int i = 0; i < N; i++) {
        block[i] = malloc((size_t)i * 7 + 1);
        if (!block[i])
            return 1;
        memset(block[i], i, (size_t)i * 7 + 1);
    }
    for (int i = 0; i < N; i++) {
        if (block[i][i * 7] != (char)i)
            return 2;
        free(block[i]);
    }
    printf("%s\n%s\n", owner("malloc"), owner("free"));
    return 0;
}
