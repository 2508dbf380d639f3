/* SPDX-License-Identifier: MIT */
/* Owns the table of the allocator's options on the side of the command, and the check of option
 * strings. */
#include "opt_table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BLANKS         " \t\n"
#define TEXT_MAX_CHARS 255 /* what the library keeps of a TEXT */

/* The default is a number, but a string for TEXT: each type takes it its own way. */
#define NUMBER_OF_BOOL(d) (d)
#define NUMBER_OF_UINT(d) (d)
#define NUMBER_OF_ENUM(d) (d)
#define NUMBER_OF_FLAG(d) (d)
#define NUMBER_OF_TEXT(d) 0
#define TEXT_OF_BOOL(d)   ""
#define TEXT_OF_UINT(d)   ""
#define TEXT_OF_ENUM(d)   ""
#define TEXT_OF_FLAG(d)   ""
#define TEXT_OF_TEXT(d)   (d)

const struct opt_row opt_rows[] = {
#define OPTION(id, name, type, default_value, min, max, unit, stability, help) \
    {name,                                                                     \
     OPT_##type,                                                               \
     #type,                                                                    \
     NUMBER_OF_##type(default_value),                                          \
     TEXT_OF_##type(default_value),                                            \
     min,                                                                      \
     max,                                                                      \
     unit,                                                                     \
     #stability,                                                               \
     help},
#include "service/options.def"
#undef OPTION
};
const size_t n_opt_rows = sizeof(opt_rows) / sizeof(opt_rows[0]);

/* The shortest way to type a number. */
static void number_text(uint64_t v, char *text, size_t room)
{
    static const char suffixes[] = "GMK";
    for (unsigned i = 0; i < 3; i++) {
        const unsigned shift = 30 - 10 * i;
        if (v != 0 && v % ((uint64_t)1 << shift) == 0) {
            snprintf(text, room, "%" PRIu64 "%c", v >> shift, suffixes[i]);
            return;
        }
    }
    snprintf(text, room, "%" PRIu64, v);
}

void opt_default_text(const struct opt_row *row, char *text, size_t room)
{
    const char *word = row->unit;
    switch (row->type) {
    case OPT_ENUM:
        for (uint64_t i = 0; i < row->number; i++)
            word += strcspn(word, "|") + 1;
        snprintf(text, room, "%.*s", (int)strcspn(word, "|"), word);
        break;
    case OPT_TEXT:
        snprintf(text, room, "%s", row->text);
        break;
    case OPT_FLAG:
        snprintf(text, room, "off");
        break;
    default:
        number_text(row->number, text, room);
        break;
    }
}

static bool is_word_of(const char *words, const char *value, size_t n)
{
    for (;;) {
        const size_t len = strcspn(words, "|");
        if (len == n && memcmp(words, value, n) == 0)
            return true;
        if (words[len] == '\0')
            return false;
        words += len + 1;
    }
}

static bool parse_number(const char *s, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    size_t i = 0;
    unsigned shift = 0;
    for (; i < n && s[i] >= '0' && s[i] <= '9'; i++) {
        if (v > (UINT64_MAX - 9) / 10)
            return false;
        v = v * 10 + (uint64_t)(s[i] - '0');
    }
    if (i == 0)
        return false;
    if (i < n) {
        shift = s[i] == 'K' || s[i] == 'k'   ? 10
                : s[i] == 'M' || s[i] == 'm' ? 20
                : s[i] == 'G' || s[i] == 'g' ? 30
                                             : 0;
        if (shift == 0 || i + 1 != n || v > UINT64_MAX >> shift)
            return false;
    }
    *out = v << shift;
    return true;
}

static int check_value(const struct opt_row *row, const char *value, size_t n, char *why,
                       size_t room)
{
    const int chars = (int)n;
    uint64_t v = 0;
    char low[32];
    char high[32];

    switch (row->type) {
    case OPT_FLAG:
        snprintf(why, room, "option '%s' takes no value", row->name);
        return value == NULL ? 0 : -1;
    case OPT_BOOL:
        snprintf(why, room, "option '%s' is 0 or 1, not '%.*s'", row->name, chars, value);
        return n == 1 && (value[0] == '0' || value[0] == '1') ? 0 : -1;
    case OPT_ENUM:
        if (strcmp(row->name, "mode") == 0 &&
            (is_word_of("hardened|debug", value, n) && !is_word_of(row->unit, value, n))) {
            snprintf(why, room, "mode '%.*s' is not in this version", chars, value);
            return -1;
        }
        snprintf(why, room, "option '%s' is one of %s, not '%.*s'", row->name, row->unit, chars,
                 value);
        return is_word_of(row->unit, value, n) ? 0 : -1;
    case OPT_UINT:
        number_text(row->min, low, sizeof(low));
        number_text(row->max, high, sizeof(high));
        snprintf(why, room, "option '%s' is a number from %s to %s, not '%.*s'", row->name, low,
                 high, chars, value);
        return parse_number(value, n, &v) && v >= row->min && v <= row->max ? 0 : -1;
    default:
        snprintf(why, room, "option '%s' is a word of at most %d characters", row->name,
                 TEXT_MAX_CHARS);
        return n > 0 && n <= TEXT_MAX_CHARS ? 0 : -1;
    }
}

static int check_word(const char *word, size_t n, char *why, size_t room)
{
    const char *equals = memchr(word, '=', n);
    const size_t name_chars = equals != NULL ? (size_t)(equals - word) : n;

    for (size_t i = 0; i < n_opt_rows; i++) {
        const struct opt_row *row = &opt_rows[i];
        if (strlen(row->name) != name_chars || memcmp(row->name, word, name_chars) != 0)
            continue;
        if (equals == NULL && row->type != OPT_FLAG) {
            snprintf(why, room, "option '%s' needs a value, %s=...", row->name, row->name);
            return -1;
        }
        return check_value(row, equals != NULL ? equals + 1 : NULL,
                           equals != NULL ? n - name_chars - 1 : 0, why, room);
    }
    snprintf(why, room, "unknown option '%.*s'; 'slub options' lists them", (int)name_chars, word);
    return -1;
}

int opt_check(const char *options, char *why, size_t room)
{
    for (const char *s = options + strspn(options, BLANKS); *s != '\0'; s += strspn(s, BLANKS)) {
        const size_t n = strcspn(s, BLANKS);
        if (check_word(s, n, why, room) != 0)
            return -1;
        s += n;
    }
    return 0;
}

int opt_find(const char *options, const char *name, const char **value, size_t *n_chars)
{
    const size_t name_chars = strlen(name);
    int found = -1;
    for (const char *s = options + strspn(options, BLANKS); *s != '\0'; s += strspn(s, BLANKS)) {
        const size_t n = strcspn(s, BLANKS);
        if (n > name_chars && memcmp(s, name, name_chars) == 0 && s[name_chars] == '=') {
            *value = s + name_chars + 1;
            *n_chars = n - name_chars - 1;
            found = 0;
        }
        s += n;
    }
    return found;
}
