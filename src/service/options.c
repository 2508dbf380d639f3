/* SPDX-License-Identifier: MIT */
/* The parser of the option table. Layer: L2. It allocates nothing and calls nothing that could. */
#define _GNU_SOURCE
#include "service/options.h"

#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "os/os.h"

enum option_type { TYPE_BOOL, TYPE_UINT, TYPE_ENUM, TYPE_FLAG, TYPE_TEXT };

struct option_row {
    const char *name;
    void *field;
    uint64_t min, max;
    const char *words;
    enum option_type type;
};

struct slub_options options = {
#define OPTION(id, name, type, def, min, max, unit, stability, help) .id = def,
#include "service/options.def"
#undef OPTION
};

static const struct option_row rows[] = {
#define OPTION(id, name, type, def, min, max, unit, stability, help) \
    {name, &options.id, min, max, unit, TYPE_##type},
#include "service/options.def"
#undef OPTION
};

static bool parse_uint(const char *s, size_t n, uint64_t min, uint64_t max, uint64_t *out)
{
    uint64_t v = 0;
    size_t i = 0;
    for (; i < n && s[i] >= '0' && s[i] <= '9'; i++) {
        if (v > (UINT64_MAX - 9) / 10)
            return false;
        v = v * 10 + (uint64_t)(s[i] - '0');
    }
    if (i == 0)
        return false;
    if (i + 1 == n) {
        unsigned shift = s[i] == 'K' || s[i] == 'k' ? 10 : s[i] == 'M' || s[i] == 'm' ? 20 : 30;
        if (shift == 30 && s[i] != 'G' && s[i] != 'g')
            return false;
        if (v > UINT64_MAX >> shift)
            return false;
        v <<= shift;
    } else if (i != n) {
        return false;
    }
    if (v < min || v > max)
        return false;
    *out = v;
    return true;
}

/* Index of s[0..n) among words separated by '|'. */
static bool parse_word(const char *words, const char *s, size_t n, uint64_t *out)
{
    uint64_t index = 0;
    for (const char *w = words;; index++) {
        size_t len = strcspn(w, "|");
        if (len == n && memcmp(w, s, n) == 0) {
            *out = index;
            return true;
        }
        if (w[len] == 0)
            return false;
        w += len + 1;
    }
}

static bool apply(const struct option_row *row, const char *value, size_t n, bool has_value)
{
    switch (row->type) {
    case TYPE_FLAG:
        *(uint64_t *)row->field = 1;
        return !has_value;
    case TYPE_BOOL:
        return has_value && parse_uint(value, n, 0, 1, row->field);
    case TYPE_UINT:
        return has_value && parse_uint(value, n, row->min, row->max, row->field);
    case TYPE_ENUM:
        return has_value && parse_word(row->words, value, n, row->field);
    case TYPE_TEXT:
        if (!has_value || n == 0 || n >= OPTION_TEXT_MAX)
            return false;
        memcpy(row->field, value, n);
        ((char *)row->field)[n] = 0;
        return true;
    }
    return false;
}

static bool parse_one(const char *word, size_t n)
{
    const char *eq = memchr(word, '=', n);
    size_t name_len = eq != NULL ? (size_t)(eq - word) : n;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == name_len && memcmp(rows[i].name, word, name_len) == 0)
            return apply(&rows[i], eq != NULL ? eq + 1 : word + n, eq != NULL ? n - name_len - 1 : 0,
                         eq != NULL);
    return false;
}

int options_parse(const char *string)
{
    static const char blanks[] = " \t\n";
    int n_bad = 0;
    for (const char *s = string + strspn(string, blanks); *s != 0;) {
        size_t n = strcspn(s, blanks);
        if (!parse_one(s, n)) {
            check_report_line("option ignored (unknown or malformed)", s, n);
            n_bad++;
        }
        s += n;
        s += strspn(s, blanks);
    }
    return n_bad;
}

void options_parse_environment(char **environment)
{
    static const char name[] = "SLUB_OPTIONS=";
    static bool is_done;
    if (is_done || environment == NULL || os_is_secure())
        return;
    is_done = true;
    check_init_stderr();
    for (char **e = environment; *e != NULL; e++)
        if (strncmp(*e, name, sizeof name - 1) == 0)
            options_parse(*e + sizeof name - 1);
}
