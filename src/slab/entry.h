/* SPDX-License-Identifier: MIT */
/* A free object on its way between a slab and the program, as sheaves and barns hold it.
 *
 * Layer: L4. In default mode the address of its state byte goes with it: the slab knows both, and so does free, which
 * looked the object up. Allocation then marks the object live without a look at the address map, at the price of
 * eight bytes more for each object at hand (docs/adr/0005). */
#ifndef SLUB_SLAB_ENTRY_H
#define SLUB_SLAB_ENTRY_H

#include "base/compiler.h"

struct entry {
    void *en_obj;
#if SLUB_STATE
    uint8_t *en_state;
#endif
};

/* `state` is ignored in fast mode. */
SLUB_FAST struct entry entry_make(void *obj, uint8_t *state)
{
#if SLUB_STATE
    return (struct entry){obj, state};
#else
    (void)state;
    return (struct entry){obj};
#endif
}

#endif
