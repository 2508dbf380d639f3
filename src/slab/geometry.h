/* SPDX-License-Identifier: MIT */
/* How objects of one size lie in a slab. A pure function: no state, no I/O.
 *
 * Layer: L4. A slab is one granule of 64 KiB, cut into equal strides from its start; natural alignment of
 * powers of two follows. What the kernel's order rule decides is the extent: how much of a slab is taken
 * into use at a time, so that a small program touches few pages (docs/adr/0001). */
#ifndef SLUB_SLAB_GEOMETRY_H
#define SLUB_SLAB_GEOMETRY_H

#include "base/compiler.h"
#include "region/layout.h"

#define GEOMETRY_MIN_OBJECT 8 /* smaller ones take this much; indices then fit 16 bits */
#define GEOMETRY_MAX_OBJECT 32768

struct geometry {
    uint32_t stride_bytes; /* distance of objects */
    uint32_t recip;        /* (offset * recip) >> 32 is the index of the object at offset; see geometry_index */
    uint32_t n_objs;       /* objects in a slab */
    uint32_t align_bytes;  /* what every object is aligned to */
    uint32_t extent_objs;  /* objects taken into use at a time */
    uint32_t page_objs;    /* objects that begin in one page, at least 1 */
};

struct geometry_rules {
    size_t page_bytes;
    unsigned min_order, max_order; /* log2 of pages in an extent */
    unsigned min_objs;             /* 0: from the number of CPUs */
    unsigned n_cpus;
};

/* 0, or -EINVAL for a size of 0, one over GEOMETRY_MAX_OBJECT, or an alignment that is no power of two or
 * larger than the maximum. */
int geometry_compute(struct geometry *g, size_t size, size_t align, const struct geometry_rules *rules);

/* Index of the object that contains the offset of a start. For offsets that are multiples of the stride the
 * result is exact: with recip = ceil(2^32 / stride), k * stride * recip = k * 2^32 + k * e with e < stride, and
 * k * e < 2^16. For others it may be off by one only where a start test fails anyway.
 * The low half of the product is the start test of the fast path: at a distance r from a start it is k * e + r * recip,
 * which is below recip for r = 0, since recip >= 2^17 (one object of up to 32 KiB) or k = 0, and from recip to 2^32 - 1
 * for the others, since (stride - 1) * recip = 2^32 + e - recip. */
SLUB_FAST uint32_t geometry_index(const struct geometry *g, uint32_t offset)
{
    return (uint32_t)((uint64_t)offset * g->recip >> 32);
}

#endif
