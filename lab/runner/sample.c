/* SPDX-License-Identifier: MIT */
/* Owns the taking of one sample; see sample.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runner/sample.h"

#include "runner/places.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STARTER          "slub-bench-start"
#define PAD_VARIABLE     "SLUB_BENCH_PAD="
#define MOST_ENVIRONMENT 4096 /* bytes of padding: one page */
#define MOST_PATH        128
#define MOST_OUTPUT      (16u << 20)

extern char **environ;

static volatile sig_atomic_t is_interrupted;
static volatile pid_t running;

void sample_interrupt(void)
{
    is_interrupted = 1;
    if (running > 0)
        kill(running, SIGKILL); /* the starter's end is its child's */
}

bool sample_is_interrupted(void)
{
    return is_interrupted != 0;
}

int sample_site_open(struct sample_site *site, const char *cpus, unsigned timeout_s, char *why, size_t room)
{
    const char *base = getenv("TMPDIR");

    memset(site, 0, sizeof(*site));
    if (places_find_helper(STARTER, site->starter, sizeof(site->starter)) != 0) {
        snprintf(why, room, "%s is not in this installation: install the whole of slub", STARTER);
        return -1;
    }
    snprintf(site->cpus, sizeof(site->cpus), "%s", cpus != NULL ? cpus : "-");
    site->timeout_s = timeout_s;
    snprintf(site->dir, sizeof(site->dir), "%s/slub-bench.XXXXXX", base != NULL && base[0] == '/' ? base : "/tmp");
    if (mkdtemp(site->dir) == NULL) {
        snprintf(why, room, "cannot make a directory '%s': %s", site->dir, strerror(errno));
        site->dir[0] = '\0';
        return -1;
    }
    return 0;
}

static void file_in(const struct sample_site *site, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 256, site->dir, name);
}

void sample_site_close(struct sample_site *site)
{
    char path[PATH_MAX];

    if (site->dir[0] == '\0')
        return;
    file_in(site, "output", path);
    unlink(path);
    rmdir(site->dir);
    site->dir[0] = '\0';
}

int sample_find_program(const char *name, char path[PATH_MAX])
{
    const char *dirs = getenv("PATH");
    char tried[PATH_MAX];

    if (strchr(name, '/') != NULL)
        return realpath(name, path) == NULL ? -errno : access(path, X_OK) != 0 ? -errno : 0;
    for (dirs = dirs != NULL ? dirs : "/bin:/usr/bin"; name[0] != '\0'; dirs++) {
        const size_t n = strcspn(dirs, ":");
        snprintf(tried, sizeof(tried), "%.*s/%s", n == 0 ? 1 : (int)n, n == 0 ? "." : dirs, name);
        struct stat st;
        if (stat(tried, &st) == 0 && S_ISREG(st.st_mode) && access(tried, X_OK) == 0) {
            snprintf(path, PATH_MAX, "%s", tried);
            return 0;
        }
        dirs += n;
        if (*dirs == '\0')
            break;
    }
    return -ENOENT;
}

static bool is_elf(const char *path)
{
    char magic[4] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is = fd >= 0 && read(fd, magic, sizeof(magic)) == 4 && memcmp(magic, "\177ELF", 4) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* A link of a random length to the program. Returns the bytes added; 0 when there is no link. */
static unsigned link_program(const struct sample_site *site, const char *path, struct rng *rng, char link[PATH_MAX])
{
    char name[MOST_PATH + 1];
    const size_t n = 1 + rng_below(rng, MOST_PATH - 1);

    snprintf(link, PATH_MAX, "%s", path);
    if (!is_elf(path))
        return 0;
    memset(name, 'p', n);
    name[n] = '\0';
    file_in(site, name, link);
    if (symlink(path, link) == 0)
        return (unsigned)n;
    snprintf(link, PATH_MAX, "%s", path);
    return 0;
}

/* The environment with one more variable, whose text is @pad. */
static char **padded(char *const *env, char *pad)
{
    size_t n = 0;
    while (env[n] != NULL)
        n++;
    char **more = malloc((n + 2) * sizeof(more[0]));
    if (more != NULL) {
        memcpy(more, env, n * sizeof(more[0]));
        more[n] = pad;
        more[n + 1] = NULL;
    }
    return more;
}

static char *read_output(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const size_t n = fd >= 0 && fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
    const size_t kept = n < MOST_OUTPUT ? n : MOST_OUTPUT;
    char *text = malloc(kept + 1);

    if (text != NULL) {
        const ssize_t got = kept > 0 ? pread(fd, text, kept, (off_t)(n - kept)) : 0;
        text[got > 0 ? got : 0] = '\0';
    }
    if (fd >= 0)
        close(fd);
    return text;
}

static int run_starter(const struct sample_site *site, const char *path, char *const *argv, char **env,
                       struct sample_result *out)
{
    posix_spawn_file_actions_t actions;
    char *words[512] = {(char *)site->starter};
    char report_text[16], timeout_text[16], output[PATH_MAX];
    size_t n = 1;
    int report[2];
    pid_t pid;

    if (pipe2(report, O_CLOEXEC) != 0)
        return -errno;
    snprintf(report_text, sizeof(report_text), "%d", report[1]);
    snprintf(timeout_text, sizeof(timeout_text), "%u", site->timeout_s);
    words[n++] = report_text;
    words[n++] = timeout_text;
    words[n++] = (char *)site->cpus;
    words[n++] = (char *)path;
    for (size_t i = 0; argv[i] != NULL && n + 1 < sizeof(words) / sizeof(words[0]); i++)
        words[n++] = argv[i];
    file_in(site, "output", output);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, report[1], report[1]); /* keeps it open */
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    int err = -posix_spawn(&pid, site->starter, &actions, NULL, words, env);
    posix_spawn_file_actions_destroy(&actions);
    close(report[1]);
    if (err == 0) {
        running = pid;
        if (is_interrupted)
            kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        running = 0;
        if (read(report[0], &out->report, sizeof(out->report)) != (ssize_t)sizeof(out->report))
            err = is_interrupted ? -EINTR : -EIO;
        out->output = read_output(output);
    }
    close(report[0]);
    return err;
}

static const char *last_line(char *output)
{
    char *line = output;
    for (char *p = output; p != NULL && *p != '\0'; p++) {
        if (*p == '\n' && p[1] != '\0' && p[1] != '\n')
            line = p + 1;
    }
    if (line != NULL)
        line[strcspn(line, "\n")] = '\0';
    return line != NULL ? line : "";
}

static int judge(const char *name, int err, struct sample_result *out, char *why, size_t room)
{
    const struct start_report *r = &out->report;

    if (err == -EINTR)
        return -EINTR;
    if (err != 0)
        snprintf(why, room, "cannot run '%s': %s", name, strerror(-err));
    else if (r->exec_errno != 0)
        snprintf(why, room, "cannot execute '%s': %s", name, strerror(r->exec_errno));
    else if (r->is_late)
        snprintf(why, room, "'%s' took too long", name);
    else if (WIFSIGNALED(r->status))
        snprintf(why, room, "'%s' ended by signal %d: %.200s", name, WTERMSIG(r->status), last_line(out->output));
    else if (WEXITSTATUS(r->status) == SAMPLE_CANNOT_RUN) {
        snprintf(why, room, "%.200s", last_line(out->output));
        return -ENOTSUP;
    } else if (r->status != 0)
        snprintf(why, room, "'%s' ended with status %d: %.200s", name, WEXITSTATUS(r->status), last_line(out->output));
    else
        return 0;
    return -1;
}

int sample_take(const struct sample_site *site, const char *path, char *const *argv, char *const *env, struct rng *rng,
                struct sample_result *out, char *why, size_t room)
{
    char link[PATH_MAX];
    char pad[sizeof(PAD_VARIABLE) + MOST_ENVIRONMENT];

    memset(out, 0, sizeof(*out));
    out->environment_pad = (unsigned)rng_below(rng, MOST_ENVIRONMENT);
    memcpy(pad, PAD_VARIABLE, sizeof(PAD_VARIABLE));
    memset(pad + sizeof(PAD_VARIABLE) - 1, 'x', out->environment_pad);
    pad[sizeof(PAD_VARIABLE) - 1 + out->environment_pad] = '\0';
    out->path_pad = link_program(site, path, rng, link);
    char **more = padded(env, pad);
    const int err = more == NULL ? -ENOMEM : run_starter(site, link, argv, more, out);
    if (out->path_pad > 0)
        unlink(link);
    free(more);
    return judge(argv[0], err, out, why, room);
}

void sample_release(struct sample_result *out)
{
    free(out->output);
    out->output = NULL;
}
