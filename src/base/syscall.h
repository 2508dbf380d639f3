/* SPDX-License-Identifier: MIT */
/* System calls without libc's wrappers: nobody can interpose them, they never touch errno, and they work
 * before libc is initialised. Layer: L0.
 * Result: the kernel's, so -errno on failure. */
#ifndef SLUB_BASE_SYSCALL_H
#define SLUB_BASE_SYSCALL_H

#include <sys/syscall.h>

#include "base/compiler.h"

SLUB_FAST long raw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    long ret;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return ret;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = nr;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
#error "add the system call instruction of this CPU"
#endif
}

/* True for a result in the kernel's range of errors. */
SLUB_FAST bool syscall_failed(long ret) { return (unsigned long)ret >= (unsigned long)-4095L; }

#endif
