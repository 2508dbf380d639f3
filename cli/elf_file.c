/* SPDX-License-Identifier: MIT */
/* Owns the reading of ELF files, by libelf. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "elf_file.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void read_segments(struct elf_file *f)
{
    size_t n = 0;
    bool has_base = false;

    if (elf_getphdrnum(f->elf, &n) != 0)
        return;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr ph;
        if (gelf_getphdr(f->elf, (int)i, &ph) == NULL)
            continue;
        if (ph.p_type == PT_LOAD && !has_base) {
            f->load_base = ph.p_vaddr - ph.p_offset;
            has_base = true;
        }
        if (ph.p_type == PT_INTERP && ph.p_filesz > 0 && ph.p_filesz < sizeof(f->interpreter)) {
            const ssize_t got = pread(f->fd, f->interpreter, ph.p_filesz, (off_t)ph.p_offset);
            f->interpreter[got > 0 ? got : 0] = '\0';
        }
    }
}

int elf_file_open(struct elf_file *f, int fd)
{
    GElf_Ehdr head;

    memset(f, 0, sizeof(*f));
    f->fd = fd;
    elf_version(EV_CURRENT);
    f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (f->elf == NULL || elf_kind(f->elf) != ELF_K_ELF || gelf_getehdr(f->elf, &head) == NULL) {
        elf_file_close(f);
        return -ENOEXEC;
    }
    f->machine = head.e_machine;
    f->elf_class = head.e_ident[EI_CLASS];
    read_segments(f);
    return 0;
}

void elf_file_close(struct elf_file *f)
{
    if (f->elf != NULL)
        elf_end(f->elf);
    if (f->fd >= 0)
        close(f->fd);
    f->elf = NULL;
    f->fd = -1;
}

static int find_in_section(const struct elf_file *f, Elf_Scn *section, const GElf_Shdr *head,
                           const char *name, uint64_t *value)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t n = head->sh_entsize == 0 ? 0 : head->sh_size / head->sh_entsize;

    for (size_t i = 0; data != NULL && i < n; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_value == 0 || GELF_ST_TYPE(symbol.st_info) == STT_TLS)
            continue;
        const char *found = elf_strptr(f->elf, head->sh_link, symbol.st_name);
        if (found != NULL && strcmp(found, name) == 0) {
            *value = symbol.st_value;
            return 0;
        }
    }
    return -ENOENT;
}

int elf_file_symbol(const struct elf_file *f, const char *name, bool all, uint64_t *value)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(f->elf, section)) != NULL) {
        GElf_Shdr head;
        if (gelf_getshdr(section, &head) == NULL)
            continue;
        if (head.sh_type != SHT_DYNSYM && !(all && head.sh_type == SHT_SYMTAB))
            continue;
        if (find_in_section(f, section, &head, name, value) == 0)
            return 0;
    }
    return -ENOENT;
}
