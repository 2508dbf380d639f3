/* SPDX-License-Identifier: MIT */
/* Size classes: from a size in bytes to the cache that serves it.
 *
 * Layer: L7; the tables are read by the assembly of the fast path. Default classes: 8, then multiples of 16 up
 * to 128, then eight per doubling up to 32 KiB, so that rounding adds at most 12.5 % above 128 bytes. With
 * slab_kmalloc_classes=1 they are the kernel's. Constant after sizeclass_init(). */
#ifndef SLUB_CACHE_SIZECLASS_H
#define SLUB_CACHE_SIZECLASS_H

#include "base/compiler.h"
#include "percpu/layout.h"

#define SIZECLASS_MAX 80

/* Index of the class by size, as id of its cache: by byte up to SIZE_SMALL_MAX, above by 128 bytes. */
extern uint8_t slub_class_small[SIZE_SMALL_MAX + 1];
extern uint8_t slub_class_mid[(SIZE_CLASS_MAX >> SIZE_MID_SHIFT) + 1];

void sizeclass_init(bool kernel_classes);

unsigned sizeclass_count(void);

/* Bytes of class number `index`. */
uint32_t sizeclass_bytes(unsigned index);

/* Id of the smallest class for a size up to SIZE_CLASS_MAX. */
SLUB_FAST unsigned sizeclass_id(size_t size)
{
    return size <= SIZE_SMALL_MAX ? slub_class_small[size]
                                  : slub_class_mid[(size + (1 << SIZE_MID_SHIFT) - 1) >> SIZE_MID_SHIFT];
}

/* Id of the smallest class for a size whose objects are aligned to `align`; 0 when there is none. */
unsigned sizeclass_id_aligned(size_t size, size_t align);

#endif
