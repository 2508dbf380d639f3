/* SPDX-License-Identifier: MIT */
/* A cache of one kind of object: nodes of a tree, each on a cache line of its own. */
#include <slub/slub.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

struct node {
    struct node *left, *right;
    unsigned key;
};

static struct slub_cache *nodes;

static int insert(struct node **at, unsigned key)
{
    while (*at != NULL)
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = slub_cache_zalloc(nodes);
    if (*at == NULL)
        return -1;
    (*at)->key = key;
    return 0;
}

static size_t drop(struct node *n)
{
    if (n == NULL)
        return 0;
    const size_t dropped = 1 + drop(n->left) + drop(n->right);
    slub_cache_free(nodes, n);
    return dropped;
}

int main(void)
{
    struct slub_cache_args args = {.size = sizeof(args), .align = 64};
    struct node *root = NULL;

    nodes = slub_cache_create("nodes", sizeof(struct node), &args, 0);
    if (nodes == NULL)
        return 1;
    for (unsigned i = 0; i < 1000; i++) {
        if (insert(&root, i * 7919 % 1009) != 0)
            return 1;
    }
    const int is_aligned = (uintptr_t)root % 64 == 0;
    /* A cache with live objects stays. */
    const int is_busy = slub_cache_destroy(nodes) == -EBUSY;
    const size_t dropped = drop(root);
    printf("%zu nodes of %zu bytes\n", dropped, slub_cache_size(nodes));
    return !(is_aligned && is_busy && dropped == 1000 && slub_cache_destroy(nodes) == 0);
}
