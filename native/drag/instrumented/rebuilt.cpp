// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See rebuilt.hpp. The start of a loaded object cannot report it: its code may reach this library
// by a jump, without a return address.
#include "rebuilt.hpp"

#include <link.h>
#include <string_view>

namespace heapwright::drag {

namespace {

constexpr std::string_view imported = "__tsan_init";

/// The contents of a loaded object's dynamic section. Imported names come before all others.
struct Names {
    const ElfW(Sym) * symbols = nullptr;
    const char* texts = nullptr;
    std::size_t imports = 0; ///< number of symbols that may be imports
};

/// Some loaders store an address there, others leave the offset.
template <class Thing>
const Thing* placed(ElfW(Addr) base, ElfW(Addr) address) noexcept {
    return reinterpret_cast<const Thing*>(address < base ? base + address : address);
}

Names namesOf(ElfW(Addr) base, const ElfW(Dyn) * entry) noexcept {
    Names names;
    for (; entry->d_tag != DT_NULL; ++entry) {
        const ElfW(Addr) address = entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_SYMTAB:
            names.symbols = placed<ElfW(Sym)>(base, address);
            break;
        case DT_STRTAB:
            names.texts = placed<char>(base, address);
            break;
        case DT_GNU_HASH: // buckets, the first symbol in them, ...
            names.imports = placed<std::uint32_t>(base, address)[1];
            break;
        case DT_HASH: // buckets, symbols, ...
            if (names.imports == 0) {
                names.imports = placed<std::uint32_t>(base, address)[1];
            }
            break;
        default:
            break;
        }
    }
    return names;
}

bool importsUs(const dl_phdr_info& object) noexcept {
    for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
        if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) {
            continue;
        }
        const std::uintptr_t section = object.dlpi_addr + object.dlpi_phdr[i].p_vaddr;
        const Names names = namesOf(object.dlpi_addr, reinterpret_cast<const ElfW(Dyn)*>(section));
        for (std::size_t at = 1; names.texts != nullptr && at < names.imports; ++at) {
            const ElfW(Sym)& symbol = names.symbols[at];
            if (symbol.st_shndx == SHN_UNDEF && names.texts + symbol.st_name == imported) {
                return true;
            }
        }
    }
    return false;
}

} // namespace

int Rebuilt::add(dl_phdr_info* object, std::size_t, void* self) noexcept {
    Rebuilt& all = *static_cast<Rebuilt*>(self);
    for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
        const std::size_t at = all.count_.load(std::memory_order_relaxed);
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && at < most &&
            !all.has(begin) && importsUs(*object)) {
            all.objects_[at] = {begin, segment.p_memsz};
            all.count_.store(at + 1, std::memory_order_release);
        }
    }
    return 0;
}

void Rebuilt::look() noexcept {
    ::dl_iterate_phdr(&Rebuilt::add, this);
}

} // namespace heapwright::drag
