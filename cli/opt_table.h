/* SPDX-License-Identifier: MIT */
/* The allocator's options as the command sees them: src/service/options.def as a table, and a
 * strict reading of an option string. The library ignores a bad word with one line; the command
 * refuses it. */
#ifndef SLUB_CLI_OPT_TABLE_H
#define SLUB_CLI_OPT_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum opt_type { OPT_BOOL, OPT_UINT, OPT_ENUM, OPT_FLAG, OPT_TEXT };

struct opt_row {
    const char *name;
    enum opt_type type;
    const char *type_name;
    uint64_t number;  /* default of BOOL and UINT; of ENUM the index of the word */
    const char *text; /* default of TEXT */
    uint64_t min, max;
    const char *unit; /* of ENUM: the words, separated by | */
    const char *stability;
    const char *help;
};

extern const struct opt_row opt_rows[];
extern const size_t n_opt_rows;

/* Default of an option as it would be typed: "512K", "auto". */
void opt_default_text(const struct opt_row *row, char *text, size_t room);

/* 0, or -1 with one line that names the first word which is unknown or malformed. */
int opt_check(const char *options, char *why, size_t room);

/* Value of the last word name=value of a string; -1 when there is none. The value is a part of
 * @options. */
int opt_find(const char *options, const char *name, const char **value, size_t *n_chars);

#endif
