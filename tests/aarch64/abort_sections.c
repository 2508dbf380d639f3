/* SPDX-License-Identifier: MIT */
/* Every restartable sequence of slub, interrupted at each of its instructions.
 *
 * Linked with the static library. A child uses its heap; its tracer puts a breakpoint on one instruction of one
 * section after another. When the child stops there, the kernel must send it to the abort handler as soon as it runs
 * again, and from there to the restart; on the instruction after the commit it must go on where it is. Either way the
 * child must end with every stamp intact. */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <slub/stats.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stamp.h"
#include "testkit.h"

enum { MAX_SECTIONS = 32, MAX_BYTES = 1024, N_KINDS = 4, N_BLOCKS = 700, DONE = 42 };
static const uint32_t signature = 0xd428bc00, breakpoint = 0xd4200000;

struct section {
    uint32_t version, flags;
    uint64_t start, bytes, abort;
};

static struct section sections[MAX_SECTIONS];
static unsigned n_sections;

static bool is_section(const struct section *s, uint64_t code, uint64_t end)
{
    return s->version == 0 && s->flags == 0 && s->start >= code && s->bytes > 0 && s->bytes <= MAX_BYTES &&
           s->start + s->bytes <= end && s->abort > code && s->abort < end && s->abort % 4 == 0 &&
           *(const uint32_t *)(uintptr_t)(s->abort - 4) == signature;
}

/* Descriptors of the program itself, the first that is reported. They are constants with addresses in them, so they
 * lie in the part that the loader makes read-only. */
static int find_sections(struct dl_phdr_info *info, size_t size, void *unused)
{
    const ElfW(Phdr) *code = NULL, *relro = NULL;

    (void)size;
    (void)unused;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_GNU_RELRO)
            relro = p;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) != 0)
            code = p;
    }
    if (code == NULL || relro == NULL)
        return 1;
    uint64_t text = info->dlpi_addr + code->p_vaddr, text_end = text + code->p_memsz;
    uint64_t at = (info->dlpi_addr + relro->p_vaddr + 31) & ~(uint64_t)31;
    uint64_t end = info->dlpi_addr + relro->p_vaddr + relro->p_memsz;
    for (; at + sizeof(struct section) <= end; at += 32) {
        const struct section *s = (const struct section *)(uintptr_t)at;

        if (n_sections < MAX_SECTIONS && is_section(s, text, text_end))
            sections[n_sections++] = *s;
    }
    return 1;
}

void *_Znwm(size_t bytes); /* operator new */

/* One way to get blocks and give them back each. */
static struct slub_cache *cache;
static void *get(unsigned kind, size_t bytes)
{
    switch (kind) {
    case 0: return malloc(bytes);
    case 1: return slub_alloc(bytes, 0);
    case 2: return _Znwm(bytes);
    default: return slub_cache_alloc(cache, 0);
    }
}

static void put(unsigned kind, void *p)
{
    switch (kind) {
    case 1: slub_free(p); break;
    case 3: slub_cache_free(cache, p); break;
    default: free(p); break;
    }
}

/* Enough blocks of one size to fill, flush and enlarge sheaves; a size per kind, so that each enlarges its own. */
static void use_heap(void)
{
    static void *blocks[N_KINDS][N_BLOCKS];
    static const size_t bytes[N_KINDS] = {40, 72, 104, 56};

    cache = slub_cache_create("abort", bytes[3], NULL, 0);
    if (cache == NULL)
        _exit(2);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned kind = 0; kind < N_KINDS; kind++) {
            for (size_t i = 0; i < N_BLOCKS; i++) {
                blocks[kind][i] = get(kind, bytes[kind]);
                if (blocks[kind][i] == NULL)
                    _exit(3);
                stamp_fill(blocks[kind][i], bytes[kind], kind * N_BLOCKS + i);
            }
            for (size_t i = 0; i < N_BLOCKS; i++) {
                if (stamp_first_bad(blocks[kind][i], bytes[kind], kind * N_BLOCKS + i) != bytes[kind])
                    _exit(4);
                put(kind, blocks[kind][i]);
            }
        }
    _exit(slub_cache_destroy(cache) == 0 ? DONE : 5);
}

static uint64_t pc_of(pid_t pid)
{
    struct user_regs_struct regs = {0};
    struct iovec v = {&regs, sizeof regs};

    return ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &v) == 0 ? regs.pc : 0;
}

/* Replaces one instruction; gives back the one that was there. */
static uint32_t poke(pid_t pid, uint64_t at, uint32_t instruction)
{
    uint64_t word_at = at & ~(uint64_t)7;
    unsigned shift = (unsigned)(at & 4) * 8;
    uint64_t word = (uint64_t)ptrace(PTRACE_PEEKTEXT, pid, (void *)(uintptr_t)word_at, NULL);
    uint32_t old = (uint32_t)(word >> shift);

    word = (word & ~((uint64_t)UINT32_MAX << shift)) | (uint64_t)instruction << shift;
    if (ptrace(PTRACE_POKETEXT, pid, (void *)(uintptr_t)word_at, (void *)(uintptr_t)word) != 0)
        tk_check(false, "poke at 0x%llx: errno %d", (unsigned long long)at, errno);
    return old;
}

/* Where the branch at an abort handler leads. */
static uint64_t restart_of(const struct section *s)
{
    uint32_t b = *(const uint32_t *)(uintptr_t)s->abort;

    tk_check(b >> 26 == 5, "no branch at an abort handler");
    return s->abort + (uint64_t)((int64_t)(int32_t)(b << 6) >> 4);
}

static bool stopped_by(pid_t pid, int signal, int *status)
{
    return waitpid(pid, status, 0) == pid && WIFSTOPPED(*status) && WSTOPSIG(*status) == signal;
}

/* True when the child came by `at`. */
static bool interrupt_at(const struct section *s, uint64_t at)
{
    int status = 0;
    bool reached = false;
    pid_t pid = fork();

    if (pid == 0) {
        free(malloc(1)); /* a child has no sheaves before its first call */
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        use_heap();
    }
    if (!tk_check(stopped_by(pid, SIGSTOP, &status), "the child did not stop"))
        return false;
    uint32_t old = poke(pid, at, breakpoint);
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    if (stopped_by(pid, SIGTRAP, &status) && pc_of(pid) == at) {
        reached = true;
        poke(pid, at, old);
        ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
        stopped_by(pid, SIGTRAP, &status);
        uint64_t pc = WIFSTOPPED(status) ? pc_of(pid) : 0;
        bool inside = at < s->start + s->bytes;
        tk_check((pc == restart_of(s)) == inside, "stopped at 0x%llx of section 0x%llx, then at 0x%llx",
                 (unsigned long long)(at - s->start), (unsigned long long)s->start, (unsigned long long)pc);
        ptrace(PTRACE_CONT, pid, NULL, NULL);
        waitpid(pid, &status, 0);
    }
    tk_check(WIFEXITED(status) && WEXITSTATUS(status) == DONE, "interrupted at 0x%llx of section 0x%llx: %s",
             (unsigned long long)(at - s->start), (unsigned long long)s->start, tk_status_text(status));
    if (WIFSTOPPED(status)) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    return reached;
}

int main(int argc, char **argv)
{
    unsigned n_points = 0, n_reached = 0;

    tk_init("aarch64", "abort at every instruction", argc, argv);
    free(malloc(1));
    if (strcmp(slub_root.percpu, "rseq") != 0)
        tk_skip("back end %s", slub_root.percpu);
    dl_iterate_phdr(find_sections, NULL);
    /* malloc, new, free; slub_alloc, slub_free, slub_cache_alloc, slub_cache_free; three moves of the slow path */
    tk_check(n_sections == 10, "%u sections instead of 10", n_sections);
    for (unsigned i = 0; i < n_sections && !tk_failed(); i++) {
        const struct section *s = &sections[i];

        for (uint64_t at = s->start; at <= s->start + s->bytes && !tk_failed(); at += 4) {
            bool reached = interrupt_at(s, at);

            n_points++;
            n_reached += reached;
            /* Loops of a copy may not be needed; the first instruction and the commit always are. */
            if (at == s->start || at == s->start + s->bytes - 4)
                tk_check(reached, "section %u is never at 0x%llx", i, (unsigned long long)(at - s->start));
        }
    }
    tk_note("%u sections, stopped at %u of %u instructions", n_sections, n_reached, n_points);
    return tk_finish();
}
