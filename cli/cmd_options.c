/* SPDX-License-Identifier: MIT */
/* Owns `slub options`: the table of the allocator's options, for people and as JSON. */
#include "cli.h"

#include "opt_table.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <slub/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COMMAND   "options"
#define NARROWEST 50u
#define INDENT    4u

static int print_help(void)
{
    printf(
        "usage: slub options [--json]\n\n"
        "Prints every option that SLUB_OPTIONS, slub run --options and slub_options_set() take.\n\n"
        "  --json     as JSON, schema slub-options/1\n"
        "  --help     this text\n"
        "  --version  version of the command\n");
    return cli_flush(COMMAND);
}

/* The terminal's, or what COLUMNS says, or 80. */
static unsigned output_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    unsigned width = 80;

    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    else if (columns != NULL)
        width = (unsigned)strtoul(columns, NULL, 10);
    return width < NARROWEST ? NARROWEST : width;
}

static void print_wrapped(const char *text, unsigned width)
{
    unsigned column = 0;
    while (*text != '\0') {
        const unsigned n = (unsigned)strcspn(text, " ");
        if (column != 0 && column + 1 + n > width) {
            putchar('\n');
            column = 0;
        }
        if (column == 0)
            column = (unsigned)printf("%*s%.*s", (int)INDENT, "", (int)n, text);
        else
            column += (unsigned)printf(" %.*s", (int)n, text);
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_table(void)
{
    const unsigned width = output_width();

    printf("%-22s %-5s %-10s %-14s %s\n", "NAME", "TYPE", "DEFAULT", "UNIT", "STABILITY");
    for (size_t i = 0; i < n_opt_rows; i++) {
        const struct opt_row *row = &opt_rows[i];
        char text[64];
        opt_default_text(row, text, sizeof(text));
        printf("%-22s %-5s %-10s %-14s %s\n", row->name, row->type_name,
               text[0] == '\0' ? "-" : text,
               row->type == OPT_ENUM || row->unit[0] == '\0' ? "-" : row->unit, row->stability);
        if (row->type == OPT_ENUM) {
            char words[128];
            snprintf(words, sizeof(words), "one of %s", row->unit);
            print_wrapped(words, width);
        } else if (row->type == OPT_UINT) {
            char bounds[96];
            snprintf(bounds, sizeof(bounds), "from %" PRIu64 " to %" PRIu64, row->min, row->max);
            print_wrapped(bounds, width);
        }
        print_wrapped(row->help, width);
    }
}

static json_t *words_of(const char *words)
{
    json_t *list = json_array();
    for (;;) {
        const size_t n = strcspn(words, "|");
        json_array_append_new(list, json_stringn(words, n));
        if (words[n] == '\0')
            return list;
        words += n + 1;
    }
}

static json_t *option_object(const struct opt_row *row)
{
    char text[64];
    json_t *o = json_object();

    opt_default_text(row, text, sizeof(text));
    json_object_set_new(o, "name", json_string(row->name));
    json_object_set_new(o, "type", json_string(row->type_name));
    json_object_set_new(o, "default",
                        row->type == OPT_UINT || row->type == OPT_BOOL
                            ? json_integer((json_int_t)row->number)
                            : json_string(text));
    if (row->type == OPT_UINT) {
        json_object_set_new(o, "min", json_integer((json_int_t)row->min));
        json_object_set_new(o, "max", json_integer((json_int_t)row->max));
    }
    if (row->type == OPT_ENUM)
        json_object_set_new(o, "values", words_of(row->unit));
    else
        json_object_set_new(o, "unit", row->unit[0] == '\0' ? json_null() : json_string(row->unit));
    json_object_set_new(o, "stability", json_string(row->stability));
    json_object_set_new(o, "help", json_string(row->help));
    return o;
}

static int print_json(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n_opt_rows; i++)
        json_array_append_new(list, option_object(&opt_rows[i]));
    json_t *all = json_pack("{s:s,s:s,s:o}", "schema", "slub-options/1", "slub_version",
                            SLUB_VERSION, "options", list);
    const int err = all == NULL ? -1 : json_dumpf(all, stdout, JSON_INDENT(2));
    json_decref(all);
    if (err != 0)
        return cli_failed(COMMAND, "cannot write the JSON");
    putchar('\n');
    return CLI_DONE;
}

int cmd_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    int as_json = 0;
    int answer;

    while ((answer = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (answer) {
        case 'j':
            as_json = 1;
            break;
        case 'h':
            return print_help();
        case 'V':
            return cli_version();
        default:
            return cli_bad_option(COMMAND, answer, argv);
        }
    }
    if (optind < argc)
        return cli_usage(COMMAND, "unexpected argument '%s'; see slub options --help",
                         argv[optind]);
    if (as_json) {
        const int status = print_json();
        if (status != CLI_DONE)
            return status;
    } else {
        print_table();
    }
    return cli_flush(COMMAND);
}
