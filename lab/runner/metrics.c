/* SPDX-License-Identifier: MIT */
/* Owns the table of what the kernel counts, and the reading of printed numbers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME, CPU, USER, SYSTEM, RSS, FAULTS, MAJOR_FAULTS, SWITCHES, N_COUNTED };

static const struct {
    const char *name;
    const char *unit;
} counted[N_COUNTED] = {
    [TIME] = {"time", "ns"},
    [CPU] = {"cpu", "ns"},
    [USER] = {"user", "ns"},
    [SYSTEM] = {"sys", "ns"},
    [RSS] = {"rss", "bytes"},
    [FAULTS] = {"faults", "count"},
    [MAJOR_FAULTS] = {"major-faults", "count"},
    [SWITCHES] = {"switches", "count"},
};

static double counted_value(unsigned which, const struct start_report *r)
{
    switch (which) {
    case TIME:
        return (double)r->wall_ns;
    case CPU:
        return (double)(r->user_ns + r->system_ns);
    case USER:
        return (double)r->user_ns;
    case SYSTEM:
        return (double)r->system_ns;
    case RSS:
        return (double)r->peak_bytes;
    case FAULTS:
        return (double)(r->minor_faults + r->major_faults);
    case MAJOR_FAULTS:
        return (double)r->major_faults;
    default:
        return (double)(r->voluntary_switches + r->forced_switches);
    }
}

static int find_counted(struct lab_metric *m, const char *name, char *why, size_t room)
{
    char names[128] = "";

    for (unsigned i = 0; i < N_COUNTED; i++) {
        if (strcmp(counted[i].name, name) == 0) {
            m->counted = i;
            snprintf(m->name, sizeof(m->name), "%s", name);
            snprintf(m->unit, sizeof(m->unit), "%s", counted[i].unit);
            return 0;
        }
        const size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", used == 0 ? "" : ", ", counted[i].name);
    }
    snprintf(why, room, "unknown metric '%s': use %s or NAME[,UNIT][,more]=REGEX", name, names);
    return -1;
}

/* What is left of "=": the name, then a unit and "more" in any order. */
static int read_head(struct lab_metric *m, char *head, char *why, size_t room)
{
    char *word = strsep(&head, ",");

    snprintf(m->name, sizeof(m->name), "%s", word);
    while ((word = strsep(&head, ",")) != NULL) {
        if (strcmp(word, "more") == 0)
            m->better = LAB_MORE_IS_BETTER;
        else if (strcmp(word, "less") != 0)
            snprintf(m->unit, sizeof(m->unit), "%s", word);
    }
    if (m->name[0] != '\0')
        return 0;
    snprintf(why, room, "a metric without a name: use NAME[,UNIT][,more]=REGEX");
    return -1;
}

int lab_metric_parse(struct lab_metric *m, const char *text, char *why, size_t room)
{
    const char *equals = strchr(text, '=');
    char head[128];

    memset(m, 0, sizeof(*m));
    if (equals == NULL)
        return find_counted(m, text, why, room);
    snprintf(head, sizeof(head), "%.*s", (int)(equals - text), text);
    if (read_head(m, head, why, room) != 0)
        return -1;
    const int err = regcomp(&m->regex, equals + 1, REG_EXTENDED | REG_NEWLINE);
    if (err != 0) {
        char reason[128];
        regerror(err, &m->regex, reason, sizeof(reason));
        snprintf(why, room, "metric '%s': '%s': %s", m->name, equals + 1, reason);
        return -1;
    }
    m->is_printed = true;
    m->pattern = strdup(equals + 1);
    if (m->regex.re_nsub > 0 && m->pattern != NULL)
        return 0;
    snprintf(why, room, "metric '%s': put the number in parentheses: 'rate ([0-9.]+)'", m->name);
    lab_metric_release(m);
    return -1;
}

void lab_metric_release(struct lab_metric *m)
{
    if (m->is_printed)
        regfree(&m->regex);
    free(m->pattern);
    m->pattern = NULL;
    m->is_printed = false;
}

int lab_metric_read(const struct lab_metric *m, const struct sample_result *sample, double *value, char *why,
                    size_t room)
{
    regmatch_t match[2];
    const char *text = sample->output != NULL ? sample->output : "";
    bool found = false;

    if (!m->is_printed) {
        *value = counted_value(m->counted, &sample->report);
        return 0;
    }
    while (regexec(&m->regex, text, 2, match, 0) == 0) {
        char *end;
        if (match[1].rm_so >= 0) {
            const double v = strtod(text + match[1].rm_so, &end);
            if (end != text + match[1].rm_so && isfinite(v)) {
                *value = v;
                found = true;
            }
        }
        const regoff_t step = match[0].rm_eo > 0 ? match[0].rm_eo : 1;
        if ((size_t)step > strlen(text))
            break;
        text += step;
    }
    if (found)
        return 0;
    snprintf(why, room, "metric '%s': the output has no number that matches '%s'", m->name, m->pattern);
    return -1;
}

void lab_metric_words(const char *unit, enum lab_better better, const char **better_word, const char **worse_word)
{
    static const char *const times[] = {"ns", "us", "ms", "s", "cycles"};
    const bool is_less = better == LAB_LESS_IS_BETTER;

    *better_word = is_less ? "less" : "higher";
    *worse_word = is_less ? "more" : "lower";
    for (size_t i = 0; is_less && i < sizeof(times) / sizeof(times[0]); i++) {
        if (strcmp(unit, times[i]) == 0) {
            *better_word = "faster";
            *worse_word = "slower";
        }
    }
}

void lab_metric_format(const char *unit, double value, char *text, size_t room)
{
    const double size = fabs(value);

    if (strcmp(unit, "ns") == 0 && size >= 1e9)
        snprintf(text, room, "%.4g s", value / 1e9);
    else if (strcmp(unit, "ns") == 0 && size >= 1e6)
        snprintf(text, room, "%.4g ms", value / 1e6);
    else if (strcmp(unit, "ns") == 0 && size >= 1e3)
        snprintf(text, room, "%.4g us", value / 1e3);
    else if (strcmp(unit, "bytes") == 0 && size >= 1 << 20)
        snprintf(text, room, "%.4g MiB", value / (1 << 20));
    else if (strcmp(unit, "bytes") == 0)
        snprintf(text, room, "%.4g KiB", value / 1024);
    else if (strcmp(unit, "count") == 0 || unit[0] == '\0')
        snprintf(text, room, "%.6g", value);
    else
        snprintf(text, room, size >= 1e4 ? "%.0f %s" : "%.4g %s", value, unit);
}
