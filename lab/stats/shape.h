/* SPDX-License-Identifier: MIT */
/* What a series in the order of measuring must not hide: that it drifts, or has more than one mode. */
#ifndef SLUB_LAB_SHAPE_H
#define SLUB_LAB_SHAPE_H

#include <stddef.h>
#include <stdint.h>

/* Mann-Kendall's tau: -1 falls all the time, 1 rises. */
struct lab_drift {
    double tau;
    double p;
    double relative_change; /* over the whole series, by the median slope (Theil-Sen), as a part of the median */
};

/* Hartigan's dip: distance of the series from the nearest distribution with one mode. */
struct lab_modes {
    double dip;
    double p;         /* how often the flattest distribution with one mode gives this dip or more */
    double low, high; /* where the series is cut in two when it has two modes: the medians of the parts */
    size_t n_low;     /* values in the lower part */
};

/* 0, or -ENOMEM. Less than five values: p is 1. */
int lab_find_drift(const double *values, size_t n, struct lab_drift *out);
int lab_find_modes(const double *values, size_t n, uint64_t seed, struct lab_modes *out);

/* The dip alone; @sorted ascending. @room: 2 * n indices. */
double lab_dip(const double *sorted, size_t n, size_t *room);

#endif
