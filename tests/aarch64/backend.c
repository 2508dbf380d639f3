/* SPDX-License-Identifier: MIT */
/* Which back end slub took in this process, by the exported root and by a snapshot, and whether children of a fork
 * on every CPU can use their heap. usage: backend EXPECTED, for example "backend rseq". */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slubinfo.h"
#include "stamp.h"
#include "testkit.h"

enum { N_BLOCKS = 4000 };

static void use_heap(void *cpu)
{
    static void *blocks[N_BLOCKS];

    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < N_BLOCKS; i++) {
            size_t bytes = 1 + i % 700;

            blocks[i] = malloc(bytes);
            if (!tk_check(blocks[i] != NULL, "cpu %d: out of memory", *(const int *)cpu))
                return;
            stamp_fill(blocks[i], bytes, i);
        }
        for (size_t i = 0; i < N_BLOCKS; i++) {
            size_t bytes = 1 + i % 700;

            tk_check(stamp_first_bad(blocks[i], bytes, i) == bytes, "cpu %d: stamp gone", *(const int *)cpu);
            free(blocks[i]);
        }
    }
}

int main(int argc, char **argv)
{
    int ids[64], n;
    struct slub_info info;
    const struct slub_root *root = slubinfo_root();

    tk_init("aarch64", "back end", 0, argv);
    if (argc < 2 || root == NULL)
        tk_skip("slub is not the malloc of this process");
    free(malloc(100));
    tk_check(slubinfo_get(&info), "no snapshot");
    tk_check(strcmp(root->percpu, argv[1]) == 0, "slub_root says \"%s\"", root->percpu);
    tk_check(strcmp(info.percpu, argv[1]) == 0, "the snapshot says \"%s\"", info.percpu);
    tk_note("%s mode, %s by %s", info.mode, info.percpu, info.percpu_index);
    n = tk_cpus(ids, 64);
    for (int i = 0; i < n; i++) {
        char part[32];

        snprintf(part, sizeof part, "child on CPU %d", ids[i]);
        tk_pin(ids[i]);
        use_heap(&ids[i]);
        tk_child(part, use_heap, &ids[i], 60);
    }
    return tk_finish();
}
