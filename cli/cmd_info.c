/* SPDX-License-Identifier: MIT */
/* Owns `slub info`: whether and how slub is active in a process, running or run for the question.
 */
#include "cli.h"

#include "preload.h"
#include "process_start.h"
#include "process_view.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND  "info"
#define MOST_PID 4194304 /* the kernel's PID_MAX_LIMIT */

static int print_help(void)
{
    printf(
        "usage: slub info -p PID [--json]\n"
        "       slub info [--json] -- PROGRAM [ARGUMENT]...\n\n"
        "Says whether and how slub is active in a process: version, mode, back end, what numbers "
        "its\n"
        "sheaves, who owns malloc. With PROGRAM, runs it as slub run does and asks when it ends; "
        "with\n"
        "--json its standard output then goes to standard error.\n\n"
        "  -p, --pid PID  a running process\n"
        "  --json         as JSON, schema slub-info/1\n"
        "  --help         this text\n"
        "  --version      version of the command\n\n"
        "Exit status: 0 slub is active; 1 it is not; 2 the process cannot be looked into, or the\n"
        "command line is wrong; 126 and 127 PROGRAM cannot be executed or found, as in slub "
        "run.\n");
    return cli_flush(COMMAND);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Active: it is the process's malloc, or it is there as a library and defines no malloc. */
static int is_active(const struct process_slub *slub)
{
    return slub != NULL && (slub->owns_malloc || !slub->defines_malloc);
}

static const char *or_unused(const char *text)
{
    return text[0] == '\0' ? "not used yet" : text;
}

static int print_text(const struct process_view *v)
{
    const struct process_slub *slub = process_view_slub(v);
    const char *owner = v->malloc_owner[0] == '\0' ? "(cannot be told)" : v->malloc_owner;

    if (slub == NULL)
        return cli_failed(COMMAND, "slub is not active in %d (%s): malloc belongs to %s",
                          (int)v->pid, base_name(v->program), owner);
    if (!is_active(slub))
        return cli_failed(COMMAND, "slub is loaded but not active in %d (%s): malloc belongs to %s",
                          (int)v->pid, base_name(v->program), owner);
    printf("slub %s is active in %d (%s)\n", slub->root.version, (int)v->pid,
           base_name(v->program));
    printf("  mode      %s\n", slub->root.mode);
    printf("  back end  %s\n", or_unused(slub->root.percpu));
    printf("  index     %s\n", or_unused(slub->root.percpu_index));
    printf("  malloc    %s%s\n", slub->owns_malloc ? "slub's, " : "", owner);
    printf("  library   %s\n", slub->path);
    if (slub->root.page_bytes != 0)
        printf("  page      %u bytes\n", slub->root.page_bytes);
    return cli_flush(COMMAND);
}

static json_t *text_or_null(const char *text)
{
    json_t *value = text[0] == '\0' ? json_null() : json_string(text);
    return value != NULL ? value : json_string("(not UTF-8)");
}

static json_t *slub_object(const struct process_slub *slub)
{
    json_t *o = json_object();
    json_object_set_new(o, "path", text_or_null(slub->path));
    json_object_set_new(o, "version", text_or_null(slub->root.version));
    json_object_set_new(o, "mode", text_or_null(slub->root.mode));
    json_object_set_new(o, "percpu", text_or_null(slub->root.percpu));
    json_object_set_new(o, "percpu_index", text_or_null(slub->root.percpu_index));
    json_object_set_new(o, "owns_malloc", json_boolean(slub->owns_malloc));
    json_object_set_new(o, "page_bytes",
                        slub->root.page_bytes == 0 ? json_null()
                                                   : json_integer(slub->root.page_bytes));
    return o;
}

static int print_json(const struct process_view *v)
{
    const int active = is_active(process_view_slub(v));
    json_t *slubs = json_array();

    for (size_t i = 0; i < v->n_slubs; i++)
        json_array_append_new(slubs, slub_object(&v->slubs[i]));
    json_t *all = json_pack("{s:s,s:i,s:o,s:b,s:o,s:o}", "schema", "slub-info/1", "pid",
                            (int)v->pid, "program", text_or_null(v->program), "active", active,
                            "malloc_owner", text_or_null(v->malloc_owner), "slubs", slubs);
    const int err = all == NULL ? -1 : json_dumpf(all, stdout, JSON_INDENT(2));
    json_decref(all);
    if (err != 0)
        return cli_failed(COMMAND, "cannot write the JSON");
    putchar('\n');
    const int status = cli_flush(COMMAND);
    return status != CLI_DONE ? status : active ? CLI_DONE : CLI_FAILED;
}

static int parse_pid(const char *text, pid_t *pid)
{
    char *end;
    const long v = strtol(text, &end, 10);
    if (end == text || *end != '\0' || v <= 0 || v > MOST_PID)
        return cli_usage(COMMAND, "'%s' is not a process id", text);
    *pid = (pid_t)v;
    return CLI_DONE;
}

static int view_program(char **argv, int quiet, struct process_view *v)
{
    const struct preload preload = {.command = COMMAND};
    char path[PATH_MAX];
    char why[512];

    const int status = preload_prepare(&preload, argv[0], path);
    if (status != CLI_DONE)
        return status;
    if (process_start_and_view(path, argv, quiet, v, why, sizeof(why)) != 0)
        return cli_usage(COMMAND, "%s", why);
    return CLI_DONE;
}

int cmd_info(int argc, char **argv)
{
    static const struct option options[] = {
        {"pid", required_argument, NULL, 'p'},
        {"json", no_argument, NULL, 'j'},
        {"core", required_argument, NULL, 'c'},
        {"kernel", no_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    static struct process_view view;
    pid_t pid = 0;
    int as_json = 0;
    int status = CLI_DONE;
    int answer;

    while ((answer = getopt_long(argc, argv, "+:p:h", options, NULL)) != -1) {
        switch (answer) {
        case 'p':
            status = parse_pid(optarg, &pid);
            if (status != CLI_DONE)
                return status;
            break;
        case 'j':
            as_json = 1;
            break;
        case 'c':
        case 'k':
            return cli_usage(COMMAND, "--%s comes in a later version",
                             answer == 'c' ? "core" : "kernel");
        case 'h':
            return print_help();
        case 'V':
            return cli_version();
        default:
            return cli_bad_option(COMMAND, answer, argv);
        }
    }
    if ((pid == 0) == (optind == argc))
        return cli_usage(COMMAND, "give either -p PID or -- PROGRAM; see slub info --help");
    if (pid != 0) {
        char why[512];
        if (process_view_read(&view, pid, why, sizeof(why)) != 0)
            return cli_usage(COMMAND, "%s", why);
    } else {
        status = view_program(argv + optind, as_json, &view);
        if (status != CLI_DONE)
            return status;
    }
    return as_json ? print_json(&view) : print_text(&view);
}
