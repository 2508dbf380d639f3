/* SPDX-License-Identifier: MIT */
/* Owns the parsing of numbers and lists from the command line and from /sys. */
#include "runner/lists.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number with its suffix at *text, which moves behind it. */
static int take_number(const char **text, uint64_t *value)
{
    if (!isdigit((unsigned char)**text))
        return -EINVAL;
    char *end;
    errno = 0;
    const unsigned long long v = strtoull(*text, &end, 10);
    if (errno != 0)
        return -ERANGE;
    unsigned shift = 0;
    switch (*end) {
    case 'k':
    case 'K':
        shift = 10;
        break;
    case 'm':
    case 'M':
        shift = 20;
        break;
    case 'g':
    case 'G':
        shift = 30;
        break;
    default:
        break;
    }
    if (shift != 0)
        end++;
    if (v > UINT64_MAX >> shift)
        return -ERANGE;
    *value = (uint64_t)v << shift;
    *text = end;
    return 0;
}

int lists_parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    uint64_t v;
    const int err = take_number(&text, &v);
    if (err != 0)
        return err;
    if (*text != '\0')
        return -EINVAL;
    if (v < min || v > max)
        return -ERANGE;
    *value = v;
    return 0;
}

/* "first" or "first-last" up to a comma or the end. */
static int take_range(const char **text, uint64_t min, uint64_t max, uint64_t *first,
                      uint64_t *last)
{
    int err = take_number(text, first);
    *last = *first;
    if (err == 0 && **text == '-') {
        (*text)++;
        err = take_number(text, last);
    }
    if (err != 0)
        return err;
    if (**text == ',') {
        (*text)++;
        if (**text == '\0')
            return -EINVAL;
    } else if (**text != '\0') {
        return -EINVAL;
    }
    return *first < min || *last > max || *last < *first ? -ERANGE : 0;
}

int lists_parse_sizes(const char *text, uint64_t min, uint64_t max, size_t *values, size_t room,
                      size_t *n_values)
{
    size_t n = 0;
    do {
        uint64_t first;
        uint64_t last;
        const int err = take_range(&text, min, max, &first, &last);
        if (err != 0)
            return err;
        for (uint64_t v = first; v <= last; v *= 2) {
            if (n == room)
                return -ERANGE;
            values[n++] = v;
            if (v > max / 2)
                break;
        }
    } while (*text != '\0');
    *n_values = n;
    return 0;
}

int lists_parse_ids(const char *text, unsigned max, unsigned *values, size_t room, size_t *n_values)
{
    size_t n = 0;
    do {
        uint64_t first;
        uint64_t last;
        const int err = take_range(&text, 0, max, &first, &last);
        if (err != 0)
            return err;
        for (uint64_t v = first; v <= last; v++) {
            if (n == room)
                return -ERANGE;
            values[n++] = (unsigned)v;
        }
    } while (*text != '\0');
    *n_values = n;
    return 0;
}

void lists_format_ids(const unsigned *values, size_t n_values, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n_values && used < room;) {
        size_t last = i;
        while (last + 1 < n_values && values[last + 1] == values[last] + 1)
            last++;
        const char *comma = i == 0 ? "" : ",";
        const int n =
            last > i ? snprintf(text + used, room - used, "%s%u-%u", comma, values[i], values[last])
                     : snprintf(text + used, room - used, "%s%u", comma, values[i]);
        used += n > 0 ? (size_t)n : room;
        i = last + 1;
    }
}
