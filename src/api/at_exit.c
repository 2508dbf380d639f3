/* SPDX-License-Identifier: MIT */
/* What slub prints when the program ends, and only when asked: the slab table (slabinfo=). Layer: L8. */
#include <fcntl.h>
#include <string.h>

#include "base/syscall.h"
#include "cache/init.h"
#include "service/options.h"
#include "slub/stats.h"

/* Programs close stderr before they end (all of coreutils do), so keep a descriptor of it, out of the way. */
enum { KEPT_FD_MIN = 200 };
static long kept_stderr = -1;

static __attribute__((constructor(102))) void at_start(void)
{
    if (strcmp(options.slabinfo, "stderr") == 0)
        kept_stderr = raw_syscall(SYS_fcntl, 2, F_DUPFD_CLOEXEC, KEPT_FD_MIN, 0, 0, 0);
}

/* Runs after the program's own exit handlers, so the table shows what it left behind. */
static __attribute__((destructor(101))) void at_exit(void)
{
    if (!init_is_done || options.slabinfo[0] == 0)
        return;
    if (strcmp(options.slabinfo, "stderr") == 0) {
        slub_slabinfo_write(syscall_failed(kept_stderr) ? 2 : (int)kept_stderr);
        return;
    }
    long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)options.slabinfo,
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644, 0, 0);
    if (syscall_failed(fd))
        return;
    slub_slabinfo_write((int)fd);
    raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}
