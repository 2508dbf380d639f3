/* SPDX-License-Identifier: MIT */
/* First process of the emulated machine: runs the cases that run_kernel.py listed, says how each ended, and
 * switches the machine off. A line of /cases is "NAME SECONDS [VARIABLE=VALUE…] PROGRAM [ARGUMENT…]". */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORDS = 32 };

static void run_program(char *words)
{
    char *argv[MAX_WORDS + 1], *rest = NULL;
    int n = 0;

    for (char *w = strtok_r(words, " ", &rest); w != NULL && n < MAX_WORDS; w = strtok_r(NULL, " ", &rest)) {
        if (n == 0 && strchr(w, '=') != NULL)
            putenv(w);
        else
            argv[n++] = w;
    }
    argv[n] = NULL;
    if (n > 0)
        execv(argv[0], argv);
    perror("guest_init: exec");
    _exit(127);
}

static void run_case(char *line)
{
    char name[64];
    unsigned seconds;
    int at = 0, status = 0;

    if (sscanf(line, "%63s %u %n", name, &seconds, &at) < 2)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(seconds);
        run_program(line + at);
    }
    while (waitpid(pid, &status, 0) != pid)
        ; /* orphans end here too */
    if (WIFEXITED(status))
        printf("@@case %s exit %d\n", name, WEXITSTATUS(status));
    else
        printf("@@case %s signal %d\n", name, WTERMSIG(status));
}

int main(void)
{
    static char line[1024];
    struct utsname uts;
    FILE *cases = fopen("/cases", "r");

    setvbuf(stdout, NULL, _IOLBF, 0);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sysfs", "/sys", "sysfs", 0, NULL);
    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
    mount("tmpfs", "/tmp", "tmpfs", 0, NULL);
    mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
    if (uname(&uts) == 0)
        printf("@@kernel %s %s, %ld CPUs\n", uts.release, uts.machine, sysconf(_SC_NPROCESSORS_ONLN));
    while (cases != NULL && fgets(line, sizeof line, cases) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        run_case(line);
    }
    printf("@@end\n");
    fflush(stdout);
    sync();
    reboot(RB_POWER_OFF);
    return 1;
}
