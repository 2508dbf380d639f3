/* SPDX-License-Identifier: MIT */
/* Runs one case of misuse: misuse CASE BYTES. What must happen is in cases.py. `misuse --list`
 * names the cases. */
#include "misuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct misuse *const tables[] = {misuse_twice,  misuse_inside, misuse_strangers,
                                              misuse_resize, misuse_hints,  misuse_past,
                                              misuse_other};

void misuse_expect(const char *call, const void *p, size_t usable)
{
    dprintf(1, "expect %s %p %ld %zu\n", call, p, syscall(SYS_gettid), usable);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "--list";
    size_t bytes = argc > 2 ? (size_t)strtoul(argv[2], NULL, 0) : 64;

    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct misuse *m = tables[t]; m->name != NULL; m++) {
            if (strcmp(name, "--list") == 0) {
                puts(m->name);
            } else if (strcmp(name, m->name) == 0) {
                m->run(bytes);
                return 0;
            }
        }
    return strcmp(name, "--list") == 0 ? 0 : 2;
}
