// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Walks this object's relocation table, as described in provider.hpp.
#include "provider.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>

// The linker's name for the place at which this object is loaded.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];

namespace heapwright::witness {

namespace {

// Never called: they are here so that the linker makes an entry for each of the three.
[[gnu::used, gnu::noinline]] void* callMalloc(std::size_t size) {
    return std::malloc(size);
}
[[gnu::used, gnu::noinline]] void* callCalloc(std::size_t n, std::size_t s) {
    return std::calloc(n, s);
}
[[gnu::used, gnu::noinline]] void callFree(void* object) {
    std::free(object);
}

struct Tables {
    const ElfW(Rela) * relocations = nullptr;
    std::size_t count = 0;
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
};

/// Some loaders have added the load address to the dynamic section in place, some have not.
const void* located(ElfW(Addr) address) {
    const auto base = reinterpret_cast<ElfW(Addr)>(&__ehdr_start[0]);
    return reinterpret_cast<const void*>(address < base ? base + address : address);
}

Tables ownTables() {
    Tables tables;
    for (const ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
        switch (entry->d_tag) {
        case DT_JMPREL:
            tables.relocations = static_cast<const ElfW(Rela)*>(located(entry->d_un.d_ptr));
            break;
        case DT_PLTRELSZ:
            tables.count = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_SYMTAB:
            tables.symbols = static_cast<const ElfW(Sym)*>(located(entry->d_un.d_ptr));
            break;
        case DT_STRTAB:
            tables.names = static_cast<const char*>(located(entry->d_un.d_ptr));
            break;
        default:
            break;
        }
    }
    return tables;
}

/// The object whose function a call from here to `name` reaches, or null.
const char* objectBehind(const Tables& tables, const char* name, const void** base) {
    for (std::size_t i = 0; i < tables.count; ++i) {
        const ElfW(Rela)& relocation = tables.relocations[i];
        const ElfW(Sym)& symbol = tables.symbols[ELF64_R_SYM(relocation.r_info)];
        if (std::strcmp(tables.names + symbol.st_name, name) != 0) {
            continue;
        }
        void* target = nullptr;
        std::memcpy(&target, located(relocation.r_offset), sizeof target);
        Dl_info where;
        if (dladdr(target, &where) == 0) {
            return nullptr;
        }
        *base = where.dli_fbase;
        return where.dli_fname;
    }
    return nullptr;
}

/// The bytes of `text` at `to`, cut at `end`; the place behind them.
char* append(char* to, const char* end, const char* text) {
    while (*text != '\0' && to + 1 < end) {
        *to++ = *text++;
    }
    *to = '\0';
    return to;
}

} // namespace

void findProvider(Provider& provider) {
    const Tables tables = ownTables();
    const void* base = nullptr;
    const char* const path = objectBehind(tables, "malloc", &base);
    char* const end = provider.path + sizeof provider.path;
    provider.isLibc = false;
    if (path == nullptr) {
        append(provider.path, end, "unknown");
        return;
    }
    static constexpr const char* others[] = {"free", "calloc"};
    for (const char* const other : others) {
        const void* otherBase = nullptr;
        const char* const otherPath = objectBehind(tables, other, &otherBase);
        if (otherBase != base) {
            char* to = append(provider.path, end, "mixed: ");
            to = append(append(to, end, path), end, ", ");
            append(to, end, otherPath == nullptr ? "unknown" : otherPath);
            return;
        }
    }
    append(provider.path, end, path);
    Dl_info libc;
    provider.isLibc = dladdr(reinterpret_cast<const void*>(&gnu_get_libc_version), &libc) != 0 &&
                      libc.dli_fbase == base;
}

} // namespace heapwright::witness
