/* SPDX-License-Identifier: MIT */
/* Case 9, linked statically: calls that live in the same object of libc as malloc must not drag it
 * in a second time. That it links is half of the test. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "testkit.h"

static void *use(void *unused)
{
    (void)unused;
    for (size_t n = 1; n < 100000; n = n * 3 + 1)
        free(memset(malloc(n), 1, n));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    void *p;
    size_t before;

    tk_init("kf09", "static link", argc, argv);
    before = mallinfo2().uordblks;
    p = malloc(3000000);
    tk_check(mallinfo2().uordblks >= before + 3000000, "mallinfo2 does not count our blocks");
    free(p);
    mallopt(M_ARENA_MAX, 1);
    malloc_trim(0);
    pthread_create(&t, NULL, use, NULL);
    use(NULL);
    pthread_join(t, NULL);
    tk_note("malloc_trim, mallopt and mallinfo2 are the replacement's");
    return tk_finish();
}
