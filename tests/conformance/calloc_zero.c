/* SPDX-License-Identifier: MIT */
/* calloc gives zeros however its memory was used before: freed here, freed by another thread, given
 * back to the system, split off or grown into, alone and beside others. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "stamp.h"
#include "testkit.h"

enum { DIRT = 0xaa, MOST = 600 };

static void *blocks[MOST];

/* A quarter of a MiB of a size, or a few. */
static size_t count_of(size_t bytes)
{
    size_t n = ((size_t)1 << 18) / bytes;

    return n < 3 ? 3 : n > MOST ? MOST : n;
}

static void *dirty(size_t bytes)
{
    void *p = malloc(bytes);

    memset(p, DIRT, malloc_usable_size(p));
    return p;
}

static void check_zero(size_t bytes, const char *path)
{
    size_t n = count_of(bytes);

    for (size_t i = 0; i < n; i++) {
        size_t bad;

        blocks[i] = calloc(bytes / 4 + 1, 4);
        bad = stamp_first_nonzero(blocks[i], bytes);
        tk_check(bad == bytes, "%s: calloc of %zu bytes: byte %zu is %#x", path, bytes, bad,
                 ((unsigned char *)blocks[i])[bad < bytes ? bad : 0]);
        memset(blocks[i], DIRT, bytes);
    }
    for (size_t i = 0; i < n; i++)
        free(blocks[i]);
}

static void fill(size_t bytes)
{
    for (size_t i = 0; i < count_of(bytes); i++)
        blocks[i] = dirty(bytes);
}

static void *free_all(void *bytes)
{
    for (size_t i = 0; i < count_of(*(size_t *)bytes); i++)
        free(blocks[i]);
    return NULL;
}

static void *fill_there(void *bytes)
{
    fill(*(size_t *)bytes);
    return NULL;
}

static void in_thread(void *(*fn)(void *), size_t *bytes)
{
    pthread_t t;

    pthread_create(&t, NULL, fn, bytes);
    pthread_join(t, NULL);
}

static void freed_here(size_t bytes)
{
    fill(bytes);
    free_all(&bytes);
    check_zero(bytes, "freed here");
}

static void freed_elsewhere(size_t bytes)
{
    fill(bytes);
    in_thread(free_all, &bytes);
    check_zero(bytes, "freed by another thread");
    in_thread(fill_there, &bytes);
    free_all(&bytes);
    check_zero(bytes, "made by a thread that ended");
}

static void given_back(size_t bytes)
{
    fill(bytes);
    free_all(&bytes);
    malloc_trim(0);
    check_zero(bytes, "trimmed");
}

/* Neighbours of half and of twice the size leave their dirt where this size may come to lie. */
static void cut_anew(size_t bytes)
{
    for (size_t other = bytes / 2; other <= bytes * 2; other += bytes / 2 + bytes) {
        fill(other);
        free_all(&other);
        check_zero(bytes, "cut anew");
    }
}

static void resized(size_t bytes)
{
    for (size_t i = 0; i < count_of(bytes); i++) {
        char *p = dirty(bytes * 2);

        blocks[i] = realloc(p, bytes);
    }
    free_all(&bytes);
    check_zero(bytes, "shrunk");
    for (size_t i = 0; i < count_of(bytes); i++) {
        char *p = realloc(dirty(bytes / 2 + 1), bytes);

        memset(p, DIRT, bytes);
        blocks[i] = p;
    }
    free_all(&bytes);
    check_zero(bytes, "grown");
}

static void all_paths(void *unused)
{
    size_t n = 0;

    (void)unused;
    for (size_t bytes = 64; bytes <= (size_t)8 << 20; bytes += bytes / 2 + 24) {
        for (int round = 0; round < (bytes <= (size_t)1 << 20 ? 3 : 1); round++)
            freed_here(bytes);
        freed_elsewhere(bytes);
        given_back(bytes);
        if (bytes <= (size_t)1 << 20)
            cut_anew(bytes);
        resized(bytes);
        n++;
    }
    tk_note("%zu sizes, every way of reuse", n);
}

int main(int argc, char **argv)
{
    tk_init("calloc_zero", "zero on every path", argc, argv);
    tk_child("paths", all_paths, NULL, 120);
    return tk_finish();
}
