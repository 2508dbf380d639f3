/* SPDX-License-Identifier: MIT */
/* Numbers and lists as users type them on the command line. */
#ifndef SLUB_LAB_LISTS_H
#define SLUB_LAB_LISTS_H

#include <stddef.h>
#include <stdint.h>

/* All: 0, or -EINVAL when the text is not of the form, -ERANGE when a value or their number is. */

/* Decimal, with one of the suffixes k K m M g G for powers of 1024; the whole text must be used. */
int lists_parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* "8,64,1k" and "8-1024", which doubles from the first to the last. Values in [min, max]. */
int lists_parse_sizes(const char *text, uint64_t min, uint64_t max, size_t *values, size_t room,
                      size_t *n_values);

/* "0-3,8": what /sys uses for CPUs and nodes. Ascending within a range, kept in the order given. */
int lists_parse_ids(const char *text, unsigned max, unsigned *values, size_t room,
                    size_t *n_values);

/* The inverse of lists_parse_ids(), ranges joined; truncated to fit. */
void lists_format_ids(const unsigned *values, size_t n_values, char *text, size_t room);

#endif
