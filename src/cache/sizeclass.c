/* SPDX-License-Identifier: MIT */
/* The tables of size classes; see sizeclass.h. Layer: L7. */
#include "cache/sizeclass.h"

#include "region/layout.h"

uint8_t slub_class_small[SIZE_SMALL_MAX + 1] SLUB_ALIGNED(64);
uint8_t slub_class_mid[(SIZE_CLASS_MAX >> SIZE_MID_SHIFT) + 1] SLUB_ALIGNED(64);

static uint32_t class_bytes[SIZECLASS_MAX];
static unsigned n_classes;

static void add(uint32_t bytes) { class_bytes[n_classes++] = bytes; }

static void add_kernel_classes(void)
{
    static const uint16_t small[] = {8, 16, 32, 64, 96, 128, 192, 256};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        add(small[i]);
    for (uint32_t bytes = 512; bytes <= SIZE_CLASS_MAX; bytes *= 2)
        add(bytes);
}

static void add_fine_classes(void)
{
    add(8);
    for (uint32_t bytes = 16; bytes <= 128; bytes += 16)
        add(bytes);
    for (uint32_t base = 128; base < SIZE_CLASS_MAX; base *= 2)
        for (uint32_t bytes = base + base / 8; bytes <= 2 * base; bytes += base / 8)
            add(bytes);
}

void sizeclass_init(bool kernel_classes)
{
    n_classes = 0;
    if (kernel_classes)
        add_kernel_classes();
    else
        add_fine_classes();
    for (size_t size = 0, i = 0; size <= SIZE_SMALL_MAX; size++) {
        while (class_bytes[i] < size)
            i++;
        slub_class_small[size] = (uint8_t)(GMAP_FIRST_CACHE + i);
    }
    for (size_t step = 0, i = 0; step <= SIZE_CLASS_MAX >> SIZE_MID_SHIFT; step++) {
        while (class_bytes[i] < step << SIZE_MID_SHIFT)
            i++;
        slub_class_mid[step] = (uint8_t)(GMAP_FIRST_CACHE + i);
    }
}

unsigned sizeclass_count(void) { return n_classes; }

uint32_t sizeclass_bytes(unsigned index) { return class_bytes[index]; }

unsigned sizeclass_id_aligned(size_t size, size_t align)
{
    if (size > SIZE_CLASS_MAX || align > SIZE_CLASS_MAX)
        return 0;
    for (unsigned i = sizeclass_id(size) - GMAP_FIRST_CACHE; i < n_classes; i++)
        if (class_bytes[i] % align == 0)
            return GMAP_FIRST_CACHE + i;
    return 0;
}
