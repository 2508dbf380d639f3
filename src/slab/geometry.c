/* SPDX-License-Identifier: MIT */
/* Slab geometry and the kernel's order rule. Layer: L4.
 * Source of the rule: the kernel's calculate_order(), as slub-design documents describe it: smallest order
 * that holds the wanted number of objects with at most 1/16, then 1/8, 1/4, 1/2 of the extent left over. */
#include "slab/geometry.h"

#include <errno.h>

static unsigned order_for(size_t bytes, size_t page_bytes)
{
    unsigned order = 0;
    while ((page_bytes << order) < bytes)
        order++;
    return order;
}

static unsigned choose_order(size_t stride, const struct geometry_rules *r)
{
    unsigned fls = r->n_cpus != 0 ? log2_floor(r->n_cpus) + 1 : 1;
    size_t want = r->min_objs != 0 ? r->min_objs : 4 * (fls + 1);
    unsigned least = order_for(stride, r->page_bytes);
    unsigned max = r->max_order > least ? r->max_order : least;
    unsigned start = order_for(min_size(want * stride, r->page_bytes << max), r->page_bytes);
    if (start < r->min_order)
        start = r->min_order;
    if (start > max)
        max = start;
    for (unsigned fraction = 16; fraction >= 2; fraction /= 2)
        for (unsigned order = start; order <= max; order++) {
            size_t bytes = r->page_bytes << order;
            if (bytes % stride <= bytes / fraction)
                return order;
        }
    return least;
}

int geometry_compute(struct geometry *g, size_t size, size_t align, const struct geometry_rules *rules)
{
    if (size == 0 || size > GEOMETRY_MAX_OBJECT || !is_pow2(align) || align > GEOMETRY_MAX_OBJECT)
        return -EINVAL;
    size_t stride = round_up(max_size(size, GEOMETRY_MIN_OBJECT), align);
    if (stride > GEOMETRY_MAX_OBJECT)
        return -EINVAL;
    g->stride_bytes = (uint32_t)stride;
    g->recip = (uint32_t)(((1ull << 32) + stride - 1) / stride);
    g->n_objs = (uint32_t)(SLUB_GRANULE_BYTES / stride);
    g->align_bytes = (uint32_t)(stride & -stride);
    size_t extent_bytes = min_size(rules->page_bytes << choose_order(stride, rules), SLUB_GRANULE_BYTES);
    g->extent_objs = (uint32_t)max_size(extent_bytes / stride, 1);
    g->page_objs = (uint32_t)max_size(min_size(rules->page_bytes, SLUB_GRANULE_BYTES) / stride, 1);
    return 0;
}
