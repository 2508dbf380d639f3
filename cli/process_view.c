/* SPDX-License-Identifier: MIT */
/* Owns the look into a process: /proc/PID/maps, the ELF files behind it, the loader's list,
 * slub_root.
 *
 * The process need not co-operate and is not stopped. Files are opened through /proc/PID/root, so
 * that a process in a container is read by what it has mapped, and compared with the inode that it
 * has mapped.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "process_view.h"

#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_LINKS 4096 /* of the loader's list: it may be changing while we read */

/* A file with code or data in the process. */
struct module {
    char *path;
    uint64_t start; /* where its first byte is mapped */
    uint64_t end;
    uint64_t bias; /* address in the process minus address in the file */
    uint64_t malloc_value;
    uint64_t root_value;
    dev_t dev;
    ino_t inode;
    bool is_elf;
    bool has_malloc;
    bool has_root;
};

struct modules {
    struct module *items;
    size_t n;
};

static ssize_t read_memory(pid_t pid, uint64_t address, void *to, size_t bytes)
{
    struct iovec local = {to, bytes};
    struct iovec remote = {(void *)(uintptr_t)address, bytes};
    return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

static bool read_exactly(pid_t pid, uint64_t address, void *to, size_t bytes)
{
    return address != 0 && read_memory(pid, address, to, bytes) == (ssize_t)bytes;
}

static int add_module(struct modules *m, const struct module *item)
{
    struct module *more = realloc(m->items, (m->n + 1) * sizeof(*more));
    if (more == NULL)
        return -ENOMEM;
    m->items = more;
    m->items[m->n++] = *item;
    return 0;
}

static void free_modules(struct modules *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->items[i].path);
    free(m->items);
    m->items = NULL;
    m->n = 0;
}

/* One line of maps; keeps files whose first byte is mapped. */
static int read_map_line(struct modules *m, char *line)
{
    struct module item = {0};
    uint64_t offset;
    unsigned major_number;
    unsigned minor_number;
    uint64_t inode;
    int used = 0;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64 " %x:%x %" SCNu64 " %n", &item.start,
               &item.end, &offset, &major_number, &minor_number, &inode, &used) != 6 ||
        offset != 0 || inode == 0 || line[used] != '/')
        return 0;
    line[strcspn(line, "\n")] = '\0';
    item.dev = makedev(major_number, minor_number);
    item.inode = (ino_t)inode;
    item.path = strdup(line + used);
    return item.path == NULL ? -ENOMEM : add_module(m, &item);
}

static int read_maps(struct modules *m, pid_t pid)
{
    char path[64];
    char *line = NULL;
    size_t room = 0;
    int err = 0;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return -errno;
    errno = 0;
    while (err == 0 && getline(&line, &room, f) > 0)
        err = read_map_line(m, line);
    if (err == 0 && ferror(f))
        err = errno != 0 ? -errno : -EIO;
    free(line);
    fclose(f);
    return err;
}

static int open_module(pid_t pid, const struct module *item)
{
    char path[PATH_MAX + 64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, item->path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        /* An overlay reports another device in maps than in stat: the inode decides. */
        if (fstat(fd, &st) == 0 && st.st_ino == item->inode)
            return fd;
        close(fd);
    }
    /* Replaced or removed since: the kernel still has it, for those who may ask. */
    snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, item->start,
             item->end);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void read_module(pid_t pid, struct module *item, const char *program)
{
    struct elf_file f;
    const int fd = open_module(pid, item);

    if (fd < 0 || elf_file_open(&f, fd) != 0)
        return;
    item->is_elf = f.elf_class == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
    if (item->is_elf) {
        /* A static program exports nothing. */
        const bool all = strcmp(item->path, program) == 0;
        item->bias = item->start - f.load_base;
        item->has_root = elf_file_symbol(&f, "slub_root", all, &item->root_value) == 0;
        item->has_malloc = elf_file_symbol(&f, "malloc", all, &item->malloc_value) == 0;
    }
    elf_file_close(&f);
}

/* ---- the loader's order -------------------------------------------------------------- */

/* Address of the loader's list head, found as a debugger finds it: AT_PHDR, PT_DYNAMIC, DT_DEBUG.
 */
static uint64_t find_link_map(pid_t pid)
{
    char path[64];
    ElfW(auxv_t) aux;
    uint64_t phdr_address = 0;
    uint64_t n_phdrs = 0;
    uint64_t bias = 0;
    uint64_t dynamic = 0;

    snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while (read(fd, &aux, sizeof(aux)) == (ssize_t)sizeof(aux)) {
        if (aux.a_type == AT_PHDR)
            phdr_address = aux.a_un.a_val;
        else if (aux.a_type == AT_PHNUM)
            n_phdrs = aux.a_un.a_val;
    }
    close(fd);
    for (uint64_t i = 0; i < n_phdrs; i++) {
        ElfW(Phdr) ph;
        if (!read_exactly(pid, phdr_address + i * sizeof(ph), &ph, sizeof(ph)))
            return 0;
        if (ph.p_type == PT_PHDR)
            bias = phdr_address - ph.p_vaddr;
        else if (ph.p_type == PT_DYNAMIC)
            dynamic = ph.p_vaddr;
    }
    for (uint64_t at = dynamic + bias; dynamic != 0; at += sizeof(ElfW(Dyn))) {
        ElfW(Dyn) entry;
        struct r_debug debug;
        if (!read_exactly(pid, at, &entry, sizeof(entry)) || entry.d_tag == DT_NULL)
            return 0;
        if (entry.d_tag == DT_DEBUG)
            return read_exactly(pid, entry.d_un.d_ptr, &debug, sizeof(debug))
                       ? (uint64_t)(uintptr_t)debug.r_map
                       : 0;
    }
    return 0;
}

static struct module *by_bias(struct modules *m, uint64_t bias)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->items[i].is_elf && m->items[i].bias == bias)
            return &m->items[i];
    }
    return NULL;
}

/* The first definition in the loader's order is what every other file binds to. */
static const struct module *find_malloc_owner(pid_t pid, struct modules *m)
{
    uint64_t link = find_link_map(pid);

    for (unsigned i = 0; link != 0 && i < MOST_LINKS; i++) {
        struct link_map entry;
        if (!read_exactly(pid, link, &entry, sizeof(entry)))
            return NULL;
        const struct module *item = by_bias(m, entry.l_addr);
        if (item != NULL && item->has_malloc)
            return item;
        link = (uint64_t)(uintptr_t)entry.l_next;
    }
    /* No list: a static program, whose own malloc is the only one, or a loader that has not got
     * there. */
    const struct module *only = NULL;
    for (size_t i = 0; i < m->n; i++) {
        if (!m->items[i].has_malloc)
            continue;
        if (only != NULL)
            return NULL;
        only = &m->items[i];
    }
    return only;
}

/* ---- slub ------------------------------------------------------------------------------ */

static void read_slub(struct process_view *v, const struct module *item, const struct module *owner)
{
    struct process_slub *slub = &v->slubs[v->n_slubs];

    if (v->n_slubs == PROCESS_MAX_SLUBS)
        return;
    memset(slub, 0, sizeof(*slub));
    slub->root_address = item->root_value + item->bias;
    if (!read_exactly(v->pid, slub->root_address, &slub->root, sizeof(slub->root)) ||
        memcmp(slub->root.magic, "SLUBROOT", sizeof(slub->root.magic)) != 0 ||
        slub->root.layout != 1)
        return;
    snprintf(slub->path, sizeof(slub->path), "%s", item->path);
    /* A program that has slub linked in may still have another malloc linked in: there slub's own
     * word decides. A library of ours that defines malloc defines slub's. */
    slub->defines_malloc =
        slub->root.malloc_owner != 0 || (item->has_malloc && strcmp(item->path, v->program) != 0);
    slub->owns_malloc = item == owner && slub->defines_malloc;
    v->n_slubs++;
}

static int explain(int err, pid_t pid, char *why, size_t room)
{
    if (err == -ENOENT || err == -ESRCH)
        snprintf(why, room, "there is no process %d", (int)pid);
    else if (err == -EACCES || err == -EPERM)
        snprintf(why, room, "no permission to look into process %d: be its user or root", (int)pid);
    else
        snprintf(why, room, "cannot look into process %d: %s", (int)pid, strerror(-err));
    return -1;
}

/* maps is empty, not refused, for a process that we may not trace; its memory says so. */
static int check_access(const struct modules *m, pid_t pid)
{
    char byte;
    if (m->n == 0)
        return -ENODATA;
    return read_memory(pid, m->items[0].start, &byte, 1) == 1 || errno == EFAULT ? 0 : -errno;
}

int process_view_read(struct process_view *v, pid_t pid, char *why, size_t room)
{
    struct modules m = {NULL, 0};
    char path[64];

    memset(v, 0, sizeof(*v));
    v->pid = pid;
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (readlink(path, v->program, sizeof(v->program) - 1) < 0)
        snprintf(v->program, sizeof(v->program), "?");
    int err = read_maps(&m, pid);
    if (err == 0)
        err = check_access(&m, pid);
    if (err != 0) {
        free_modules(&m);
        if (err == -ENODATA)
            snprintf(why, room,
                     "process %d has no memory to look into: a kernel thread or a zombie",
                     (int)pid);
        return err == -ENODATA ? -1 : explain(err, pid, why, room);
    }
    for (size_t i = 0; i < m.n; i++)
        read_module(pid, &m.items[i], v->program);
    const struct module *owner = find_malloc_owner(pid, &m);
    if (owner != NULL)
        snprintf(v->malloc_owner, sizeof(v->malloc_owner), "%s", owner->path);
    for (size_t i = 0; i < m.n; i++) {
        if (m.items[i].has_root)
            read_slub(v, &m.items[i], owner);
    }
    free_modules(&m);
    return 0;
}

const struct process_slub *process_view_slub(const struct process_view *v)
{
    for (size_t i = 0; i < v->n_slubs; i++) {
        if (v->slubs[i].owns_malloc)
            return &v->slubs[i];
    }
    return v->n_slubs > 0 ? &v->slubs[0] : NULL;
}
