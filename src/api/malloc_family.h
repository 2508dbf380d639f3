/* SPDX-License-Identifier: MIT */
/* Declarations of the malloc family that <malloc.h> and <stdlib.h> of this C library leave out. Layer: L8. */
#ifndef SLUB_API_MALLOC_FAMILY_H
#define SLUB_API_MALLOC_FAMILY_H

#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void cfree(void *p);
void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size);
void *__libc_memalign(size_t align, size_t size);

#ifndef __GLIBC__ /* musl has neither these calls nor struct mallinfo */
void *pvalloc(size_t size);
int malloc_trim(size_t pad);
int mallopt(int param, int value);
void malloc_stats(void);
int malloc_info(int options, FILE *f);
#endif

#endif
