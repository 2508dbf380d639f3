/* SPDX-License-Identifier: MIT */
/* What the command asks of an ELF file: can a library be preloaded into it, where is a symbol. */
#ifndef SLUB_CLI_ELF_FILE_H
#define SLUB_CLI_ELF_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_file {
    int fd;
    void *elf;          /* Elf of libelf */
    int machine;        /* e_machine */
    int elf_class;      /* ELFCLASS32, ELFCLASS64 */
    uint64_t load_base; /* address of the first segment in the file's own numbering, page-aligned */
    char interpreter[PATH_MAX]; /* PT_INTERP; "" for none */
};

/* Takes over @fd, also on failure. 0; -ENOEXEC when it is no ELF file. */
int elf_file_open(struct elf_file *f, int fd);
void elf_file_close(struct elf_file *f);

/* Value of a defined symbol in the file's own numbering: what other objects can bind to, or with
 * @all also what only the file itself knows. -ENOENT when there is none. */
int elf_file_symbol(const struct elf_file *f, const char *name, bool all, uint64_t *value);

#endif
