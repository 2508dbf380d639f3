/* SPDX-License-Identifier: MIT */
/* os.h for Linux. Layer: L1; called by region (memory), percpu (CPUs, fences) and lifecycle (limits).
 * Requests that can fail for lack of something consult fault_hit() first. */
#define _GNU_SOURCE
#include "os/os.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "base/syscall.h"
#include "os/fault.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef AT_RSEQ_FEATURE_SIZE
#define AT_RSEQ_FEATURE_SIZE 27
#endif
#ifndef GRND_INSECURE
#define GRND_INSECURE 4
#endif

enum { MADV_POPULATE_WRITE_ADVICE = 23 }; /* Linux >= 5.14; older ones refuse it, which costs only time */
enum { MADV_GUARD_INSTALL_ADVICE = 102, MADV_GUARD_REMOVE_ADVICE = 103 }; /* Linux >= 6.13 */
enum { CPU_MASK_WORDS = 128 }; /* 8192 CPUs, the most that Linux can be built for */
enum { MPOL_F_MEMS_ALLOWED_FLAG = 4 }; /* <numaif.h> is not part of libc */

static void *map(size_t bytes, int prot, int extra)
{
    if (fault_hit())
        return NULL;
    long r = raw_syscall(SYS_mmap, 0, (long)bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | extra, -1, 0);
    return syscall_failed(r) ? NULL : (void *)r;
}

void *os_reserve(size_t bytes) { return map(bytes, PROT_NONE, MAP_NORESERVE); }

int os_map_at(void *p, size_t bytes)
{
    if (fault_hit())
        return -ENOMEM;
    long r = raw_syscall(SYS_mmap, (long)p, (long)bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (syscall_failed(r) || r == (long)p)
        return syscall_failed(r) ? (int)r : 0;
    raw_syscall(SYS_munmap, r, (long)bytes, 0, 0, 0, 0); /* Linux before 4.17 takes the address as a hint */
    return -EEXIST;
}

void *os_map(size_t bytes) { return map(bytes, PROT_READ | PROT_WRITE, 0); }

void *os_remap(void *p, size_t old_bytes, size_t bytes)
{
    if (fault_hit())
        return NULL;
    long r = raw_syscall(SYS_mremap, (long)p, (long)old_bytes, (long)bytes, MREMAP_MAYMOVE, 0, 0);
    return syscall_failed(r) ? NULL : (void *)r;
}

int os_release(void *p, size_t bytes)
{
    if (fault_hit())
        return -ENOMEM; /* munmap in the middle of a mapping can fail at vm.max_map_count */
    return (int)raw_syscall(SYS_munmap, (long)p, (long)bytes, 0, 0, 0, 0);
}

int os_show_zeros(void *p, size_t bytes)
{
    if (fault_hit())
        return -ENOMEM;
    return (int)raw_syscall(SYS_mprotect, (long)p, (long)bytes, PROT_READ, 0, 0, 0);
}

int os_commit(void *p, size_t bytes)
{
    if (fault_hit())
        return -ENOMEM;
    return (int)raw_syscall(SYS_mprotect, (long)p, (long)bytes, PROT_READ | PROT_WRITE, 0, 0, 0);
}

int os_decommit(void *p, size_t bytes)
{
    if (fault_hit())
        return -ENOMEM;
    long r = raw_syscall(SYS_mprotect, (long)p, (long)bytes, PROT_NONE, 0, 0, 0);
    return syscall_failed(r)
               ? (int)r
               : (int)raw_syscall(SYS_madvise, (long)p, (long)bytes, MADV_DONTNEED, 0, 0, 0);
}

static int advise(void *p, size_t bytes, int advice)
{
    if (fault_hit())
        return -EAGAIN;
    return (int)raw_syscall(SYS_madvise, (long)p, (long)bytes, advice, 0, 0, 0);
}

int os_purge(void *p, size_t bytes) { return advise(p, bytes, MADV_DONTNEED); }
int os_populate(void *p, size_t bytes) { return advise(p, bytes, MADV_POPULATE_WRITE_ADVICE); }

int os_guard(void *p, size_t bytes)
{
    if (fault_hit())
        return -EINVAL; /* as kernels answer that do not know it */
    return (int)raw_syscall(SYS_madvise, (long)p, (long)bytes, MADV_GUARD_INSTALL_ADVICE, 0, 0, 0);
}

int os_unguard(void *p, size_t bytes) { return advise(p, bytes, MADV_GUARD_REMOVE_ADVICE); }

int os_nohugepage(void *p, size_t bytes) { return advise(p, bytes, MADV_NOHUGEPAGE); }
int os_hugepage(void *p, size_t bytes) { return advise(p, bytes, MADV_HUGEPAGE); }

/* Kernels before 6.17 unmap the target before they find that `from` spans two mappings, which they refuse to move.
 * So ask first, with a request to grow in place: it cannot succeed inside a reservation, and answers EFAULT for
 * two mappings, ENOMEM for one. */
int os_move(void *from, void *to, size_t bytes)
{
    if (fault_hit())
        return -ENOMEM;
    long probe = raw_syscall(SYS_mremap, (long)from, (long)bytes, (long)(bytes + os_page_size()), 0, 0, 0);
    if (probe != -ENOMEM)
        return syscall_failed(probe) ? (int)probe : -EINVAL;
    long r = raw_syscall(SYS_mremap, (long)from, (long)bytes, (long)bytes,
                         MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, (long)to, 0);
    return syscall_failed(r) ? (int)r : 0;
}

/* 0 when the kernel does not say; libc puts that into errno. */
static unsigned long given(unsigned long type)
{
    int saved_errno = errno;
    unsigned long value = getauxval(type);
    errno = saved_errno;
    return value;
}

size_t os_page_size(void)
{
    size_t n = given(AT_PAGESZ);
    return n != 0 ? n : 4096;
}

uint64_t os_memory_bytes(void)
{
    struct sysinfo si;
    memset(&si, 0, sizeof si);
    if (syscall_failed(raw_syscall(SYS_sysinfo, (long)&si, 0, 0, 0, 0, 0)))
        return 0;
    return (uint64_t)si.totalram * (si.mem_unit != 0 ? si.mem_unit : 1);
}

uint64_t os_address_limit(void)
{
    struct rlimit64 rl = {RLIM64_INFINITY, RLIM64_INFINITY};
    raw_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&rl, 0, 0);
    return rl.rlim_cur == RLIM64_INFINITY ? UINT64_MAX : rl.rlim_cur;
}

/* The kernel answers sched_getaffinity with the size of its own CPU mask, which bounds every CPU number
 * whatever the affinity of the caller is and whatever sysconf() is made to say. */
unsigned os_cpu_bound(void)
{
    unsigned long mask[CPU_MASK_WORDS];
    long bytes = raw_syscall(SYS_sched_getaffinity, 0, sizeof mask, (long)mask, 0, 0, 0);
    return syscall_failed(bytes) || bytes == 0 ? CPU_MASK_WORDS * 64 : (unsigned)bytes * 8;
}

unsigned os_cpu_count(void)
{
    unsigned long mask[CPU_MASK_WORDS] = {0};
    long bytes = raw_syscall(SYS_sched_getaffinity, 0, sizeof mask, (long)mask, 0, 0, 0);
    unsigned n = 0;
    for (long i = 0; !syscall_failed(bytes) && i < bytes / (long)sizeof *mask; i++)
        n += (unsigned)__builtin_popcountl(mask[i]);
    return n != 0 ? n : 1;
}

unsigned os_node_bound(void)
{
    unsigned long mask[16] = {0};
    if (fault_nodes() != 0)
        return fault_nodes();
    long r = raw_syscall(SYS_get_mempolicy, 0, (long)mask, sizeof mask * 8, 0, MPOL_F_MEMS_ALLOWED_FLAG, 0);
    if (syscall_failed(r))
        return 1;
    for (unsigned i = 16; i-- > 0;)
        if (mask[i] != 0)
            return i * 64 + log2_floor(mask[i]) + 1;
    return 1;
}

void os_where(unsigned *cpu, unsigned *node)
{
    *cpu = *node = 0;
#ifdef __GLIBC__
    int saved_errno = errno;
    if (getcpu(cpu, node) != 0) { /* the vDSO's answer: no system call */
        *cpu = *node = 0;
        errno = saved_errno; /* a sandbox refused the call that stands in for the vDSO */
    }
#endif
    if (fault_nodes() != 0)
        *node = fault_node_here();
}

extern char __libc_single_threaded __attribute__((weak)); /* glibc >= 2.32 */

bool os_is_single_threaded(void) { return &__libc_single_threaded != NULL && __libc_single_threaded; }

bool os_is_secure(void) { return given(AT_SECURE) != 0; }

unsigned os_rseq_feature_size(void) { return (unsigned)given(AT_RSEQ_FEATURE_SIZE); }

uint64_t os_clock_ms(void)
{
    struct timespec ts = {0, 0};
    int saved_errno = errno;
    if (clock_gettime(CLOCK_MONOTONIC_COARSE, &ts) != 0)
        errno = saved_errno; /* as above */
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

const void *os_given_random(void) { return (const void *)given(AT_RANDOM); }

bool os_random(void *p, size_t bytes)
{
    if (fault_hit())
        return false;
    return raw_syscall(SYS_getrandom, (long)p, (long)bytes, GRND_INSECURE, 0, 0, 0) == (long)bytes;
}

int os_fence_register(void)
{
    if (fault_hit())
        return -ENOSYS;
    return (int)raw_syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0, 0, 0, 0);
}

int os_fence(void)
{
    if (fault_hit())
        return -EPERM;
    return (int)raw_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0, 0, 0, 0);
}
