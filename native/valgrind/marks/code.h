/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The code that the loader has mapped so far, and its files.
 */
#ifndef HEAPWRIGHT_VALGRIND_CODE_H
#define HEAPWRIGHT_VALGRIND_CODE_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

struct MappedCode {
    uintptr_t start;
    uintptr_t end;
    uintptr_t offset; /* in the file */
    uintptr_t bias;   /* address of the file's own address 0 */
    const char* file;
};

typedef void (*CodeTeller)(const struct MappedCode*);

/* For dl_iterate_phdr. `teller` points to a CodeTeller. */
static int tellCode(struct dl_phdr_info* object, size_t size, void* teller) {
    (void)size;
    char path[4096];
    const char* name = object->dlpi_name;
    if (name[0] == '\0') {
        const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        name = path;
    }
    for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)* const segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
            const uintptr_t start = object->dlpi_addr + segment->p_vaddr;
            const struct MappedCode code = {start, start + segment->p_filesz, segment->p_offset,
                                            object->dlpi_addr, name};
            (*(CodeTeller*)teller)(&code);
        }
    }
    return 0;
}

static inline void reportAllCode(CodeTeller teller) {
    dl_iterate_phdr(tellCode, &teller);
}

#endif
