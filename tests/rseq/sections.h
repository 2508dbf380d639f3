/* SPDX-License-Identifier: MIT */
/* The restartable sequences of this program, found by their descriptors in the part that the loader wrote to; and
 * stepping through code by the trap flag. x86-64. */
#ifndef SLUB_TESTS_SECTIONS_H
#define SLUB_TESTS_SECTIONS_H

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/rseq.h>

enum { MOST_SECTIONS = 32, TRAP_FLAG = 0x100 };

struct descriptor {
    uint32_t version, flags;
    uint64_t start, length, abort;
};
static const struct descriptor *sections[MOST_SECTIONS];
static size_t n_sections;

static int sections_look(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_GNU_RELRO)
            continue;
        uintptr_t at = (info->dlpi_addr + ph->p_vaddr + 31) & ~(uintptr_t)31;
        uintptr_t end = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
        for (; at + sizeof(struct descriptor) <= end && n_sections < MOST_SECTIONS; at += 32) {
            const struct descriptor *d = (const struct descriptor *)at;
            uint32_t signature;
            if (d->version != 0 || d->flags != 0 || d->length == 0 || d->length > 512 ||
                d->abort - d->start + (1 << 24) > 1 << 25)
                continue;
            memcpy(&signature, (const void *)(uintptr_t)(d->abort - 4), 4);
            if (signature == RSEQ_SIG)
                sections[n_sections++] = d;
        }
    }
    return 1; /* the program itself comes first */
}

static inline void sections_find(void) { dl_iterate_phdr(sections_look, NULL); }

static inline void set_handler(void (*fn)(int, siginfo_t *, void *))
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = fn;
    sa.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGTRAP, &sa, NULL);
}

static inline void set_trap_flag(bool on)
{
    uint64_t flags;
    __asm__ volatile("pushfq; popq %0" : "=r"(flags));
    flags = on ? flags | TRAP_FLAG : flags & ~(uint64_t)TRAP_FLAG;
    __asm__ volatile("pushq %0; popfq" : : "r"(flags) : "cc", "memory");
}

#endif
