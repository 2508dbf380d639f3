/* SPDX-License-Identifier: MIT */
/* Text without allocation, and the fixed lines of reports. Layer: L0. The second file outside os/ with
 * system calls (write, gettid, fcntl): a report must not depend on anything that may be broken. */
#include "base/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/syscall.h"

static bool stderr_is_closed;

void text_str(struct text *t, const char *s)
{
    while (*s != 0 && t->t_len < t->t_size)
        t->t_buf[t->t_len++] = *s++;
}

void text_dec(struct text *t, uint64_t v)
{
    char digits[24];
    size_t i = sizeof digits;
    digits[--i] = 0;
    do
        digits[--i] = (char)('0' + v % 10);
    while ((v /= 10) != 0);
    text_str(t, digits + i);
}

void text_hex(struct text *t, uint64_t v)
{
    char digits[24];
    size_t i = sizeof digits;
    digits[--i] = 0;
    do
        digits[--i] = "0123456789abcdef"[v % 16];
    while ((v /= 16) != 0);
    text_str(t, digits + i);
}

void text_pad_to(struct text *t, size_t column)
{
    size_t start = t->t_len;
    while (start > 0 && t->t_buf[start - 1] != '\n')
        start--;
    while (t->t_len - start < column && t->t_len < t->t_size)
        t->t_buf[t->t_len++] = ' ';
}

void check_init_stderr(void)
{
    stderr_is_closed = syscall_failed(raw_syscall(SYS_fcntl, 2, F_GETFD, 0, 0, 0, 0));
}

void check_write_stderr(const char *buf, size_t len)
{
    if (!stderr_is_closed)
        raw_syscall(SYS_write, 2, (long)buf, (long)len, 0, 0, 0);
}

void check_report_bug(const char *kind, const char *call, const void *addr, const char *cache, size_t size)
{
    char buf[256];
    struct text t = {buf, 0, sizeof buf - 1};
    text_str(&t, "slub: BUG ");
    text_str(&t, kind);
    text_str(&t, ": ");
    text_str(&t, call);
    text_str(&t, "(0x");
    text_hex(&t, (uintptr_t)addr);
    text_str(&t, ") cache=");
    text_str(&t, cache);
    text_str(&t, " size=");
    text_dec(&t, size);
    text_str(&t, " tid=");
    text_dec(&t, (uint64_t)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0));
    buf[t.t_len++] = '\n';
    check_write_stderr(buf, t.t_len);
    abort();
}

void check_report_line(const char *what, const char *detail, size_t detail_len)
{
    char buf[256];
    char word[128];
    struct text t = {buf, 0, sizeof buf - 1};
    detail_len = min_size(detail_len, sizeof word - 1);
    memcpy(word, detail, detail_len);
    word[detail_len] = 0;
    text_str(&t, "slub: ");
    text_str(&t, what);
    text_str(&t, ": ");
    text_str(&t, word);
    buf[t.t_len++] = '\n';
    check_write_stderr(buf, t.t_len);
}

void check_failed(const char *expr, const char *file, int line)
{
    char buf[256];
    struct text t = {buf, 0, sizeof buf - 1};
    text_str(&t, "slub: internal check failed: ");
    text_str(&t, expr);
    text_str(&t, " at ");
    text_str(&t, file);
    text_str(&t, ":");
    text_dec(&t, (uint64_t)line);
    buf[t.t_len++] = '\n';
    check_write_stderr(buf, t.t_len);
    abort();
}
