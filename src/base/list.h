/* SPDX-License-Identifier: MIT */
/* Circular doubly linked list, intrusive, in the manner of the kernel's.
 * Layer: L0. Locking: the owner's. A node that is on no list points to itself or was never linked. */
#ifndef SLUB_BASE_LIST_H
#define SLUB_BASE_LIST_H

#include "base/compiler.h"

struct list {
    struct list *next, *prev;
};

SLUB_FAST void list_init(struct list *l) { l->next = l->prev = l; }
SLUB_FAST bool list_is_empty(const struct list *l) { return l->next == l; }

SLUB_FAST void list_insert(struct list *prev, struct list *next, struct list *n)
{
    n->prev = prev;
    n->next = next;
    prev->next = n;
    next->prev = n;
}

SLUB_FAST void list_push_front(struct list *l, struct list *n) { list_insert(l, l->next, n); }
SLUB_FAST void list_push_back(struct list *l, struct list *n) { list_insert(l->prev, l, n); }

SLUB_FAST void list_remove(struct list *n)
{
    n->prev->next = n->next;
    n->next->prev = n->prev;
    n->next = n->prev = n;
}

#define list_first(l, type, member) container_of((l)->next, type, member)
#define list_last(l, type, member) container_of((l)->prev, type, member)

#endif
