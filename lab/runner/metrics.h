/* SPDX-License-Identifier: MIT */
/* The quantities that a comparison is about: what the kernel counts of a process, or a number that it prints. */
#ifndef SLUB_LAB_METRICS_H
#define SLUB_LAB_METRICS_H

#include "runner/sample.h"
#include "stats/comparison.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#define LAB_MOST_METRICS 16

struct lab_metric {
    char name[48];
    char unit[16]; /* "ns", "bytes", "count", or what the user says of a printed number */
    enum lab_better better;
    bool is_printed;
    unsigned counted; /* else: row of the table of what the kernel counts */
    char *pattern;    /* owned */
    regex_t regex;    /* its first group is the number */
};

/* "time", "cpu", "rss", …; or NAME[,UNIT][,more]=REGEX, an extended regular expression whose first group, in its last
 * match, is the number. 0, or -1 with one line. */
int lab_metric_parse(struct lab_metric *m, const char *text, char *why, size_t room);
void lab_metric_release(struct lab_metric *m);

/* 0, or -1 with one line when it is not in the output. */
int lab_metric_read(const struct lab_metric *m, const struct sample_result *sample, double *value, char *why,
                    size_t room);

/* "faster" and "slower" for times, "less" and "more" for amounts, "higher" and "lower" for what is good when it is
 * much. */
void lab_metric_words(const char *unit, enum lab_better better, const char **better_word, const char **worse_word);

/* A value as a table shows it: "1.23 s", "4.5 MiB". */
void lab_metric_format(const char *unit, double value, char *text, size_t room);

#endif
