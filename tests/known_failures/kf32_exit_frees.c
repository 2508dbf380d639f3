/* SPDX-License-Identifier: MIT */
/* Case 32: frees in exit handlers, in destructors of the program and of static objects, with a
 * thread that still allocates, in a child of fork, and after quick_exit(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "known_check.h"
#include "testkit.h"

int main(int argc, char **argv)
{
    static const char *const ways[] = {"plain", "thread", "fork", "quick"};
    static char count[64];

    if (argc > 2 && strcmp(argv[1], "end") == 0)
        known_end_program(argv[2], (size_t)strtoul(getenv("KF32_BLOCKS"), NULL, 10), NULL);
    tk_init("kf32", "frees while exiting", argc, argv);
    snprintf(count, sizeof count, "KF32_BLOCKS=%zu", tk_count(200000, 1000000));
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const char *const again[] = {tk_self(), "end", ways[i], NULL};
        const char *const env[] = {count, NULL};
        struct tk_exec e = {.argv = again, .env = env, .limit_s = 60};
        double begin = tk_now();

        tk_run(&e);
        tk_check(e.status == 0, "%s: %s", ways[i], tk_status_text(e.status));
        tk_check(e.n_out == 0, "%s: printed %s", ways[i], e.out);
        tk_check(tk_now() - begin < 20, "%s: %.1f s", ways[i], tk_now() - begin);
        tk_note("%s %.2f s", ways[i], tk_now() - begin);
    }
    return tk_finish();
}
