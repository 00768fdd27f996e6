// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads this object's relocation table, as described in provider.hpp.
#include "provider.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>

// The linker's name for the load address of this object.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];

namespace heapwright::runner::witness {

namespace {

// Never called. They make the linker create a relocation for each of the three.
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

/// Some loaders add the load address to the dynamic section in place, some do not.
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

/// The function that a call of `name` from here reaches, or null.
const void* targetOf(const Tables& tables, const char* name) {
    for (std::size_t i = 0; i < tables.count; ++i) {
        const ElfW(Rela)& relocation = tables.relocations[i];
        const ElfW(Sym)& symbol = tables.symbols[ELF64_R_SYM(relocation.r_info)];
        if (std::strcmp(tables.names + symbol.st_name, name) == 0) {
            const void* target = nullptr;
            std::memcpy(&target, located(relocation.r_offset), sizeof target);
            return target;
        }
    }
    return nullptr;
}

/// Addresses, and the names of the loaded objects that contain them.
struct Search {
    static constexpr std::size_t count = 4; // malloc, free, calloc, and a function of the C library
    ElfW(Addr) addresses[count];
    const char* names[count]; ///< the same pointer for the same object; null if none contains it
};

bool contains(const dl_phdr_info& object, ElfW(Addr) address) {
    for (ElfW(Half) i = 0; i < object.dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object.dlpi_phdr[i];
        const ElfW(Addr) begin = object.dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD && address >= begin && address < begin + segment.p_memsz) {
            return true;
        }
    }
    return false;
}

int lookThrough(dl_phdr_info* object, std::size_t, void* data) {
    Search& search = *static_cast<Search*>(data);
    for (std::size_t i = 0; i < Search::count; ++i) {
        if (contains(*object, search.addresses[i])) {
            search.names[i] = object->dlpi_name;
        }
    }
    return 0;
}

/// Copies the bytes of `text` to `to`, cut at `end`. Returns the position after them.
char* append(char* to, const char* end, const char* text) {
    while (*text != '\0' && to + 1 < end) {
        *to++ = *text++;
    }
    *to = '\0';
    return to;
}

} // namespace

void findProvider(Provider& provider, const char* program) {
    const Tables tables = ownTables();
    const auto address = [&tables](const char* name) {
        return reinterpret_cast<ElfW(Addr)>(targetOf(tables, name));
    };
    Search search{{address("malloc"), address("free"), address("calloc"),
                   reinterpret_cast<ElfW(Addr)>(&gnu_get_libc_version)},
                  {}};
    dl_iterate_phdr(&lookThrough, &search);
    const auto nameOf = [&search, program](std::size_t i) {
        const char* const name = search.names[i];
        return name == nullptr ? "unknown" : *name == '\0' ? program : name;
    };
    char* const end = provider.path + sizeof provider.path;
    provider.isLibc = false;
    for (std::size_t other = 1; other < 3; ++other) {
        if (search.names[other] != search.names[0]) {
            char* to = append(provider.path, end, "mixed: ");
            to = append(append(to, end, nameOf(0)), end, ", ");
            append(to, end, nameOf(other));
            return;
        }
    }
    append(provider.path, end, nameOf(0));
    provider.isLibc = search.names[0] != nullptr && search.names[0] == search.names[3];
}

} // namespace heapwright::runner::witness
