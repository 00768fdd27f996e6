// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The objects with code that the process has loaded: the program and its shared libraries.
// The functions keep errno and do not allocate.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <link.h>
#include <span>

namespace heapwright::platform {

/// One loaded object.
struct LoadedModule {
    Address bias;                          ///< address in memory - address in the file
    std::span<const std::uint8_t> buildId; ///< empty if the object has none
};

namespace detail {

/// The build-id in the notes of one segment; empty if it has none.
inline std::span<const std::uint8_t> buildIdIn(Address begin, std::size_t bytes,
                                               std::size_t align) noexcept {
    const std::size_t unit = align == 8 ? 8 : 4;
    const Address end = begin + bytes;
    while (end - begin >= sizeof(ElfW(Nhdr)) && begin < end) {
        const auto& note = *static_cast<const ElfW(Nhdr)*>(pointerTo(begin));
        const Address text = begin + sizeof note + roundUp(note.n_namesz, unit);
        const Address next = text + roundUp(note.n_descsz, unit);
        if (next > end) {
            return {};
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU) {
            return {static_cast<const std::uint8_t*>(pointerTo(text)), note.n_descsz};
        }
        begin = next;
    }
    return {};
}

inline std::span<const std::uint8_t> buildIdOf(const dl_phdr_info& object) noexcept {
    for (const auto& header : std::span(object.dlpi_phdr, object.dlpi_phnum)) {
        if (header.p_type == PT_NOTE) {
            const auto found =
                buildIdIn(object.dlpi_addr + header.p_vaddr, header.p_memsz, header.p_align);
            if (!found.empty()) {
                return found;
            }
        }
    }
    return {};
}

} // namespace detail

/// Calls `visit` with each loaded object. The dynamic linker's lock is held meanwhile.
template <class Visit>
void forEachModule(Visit visit) noexcept {
    const ErrnoKeeper keeper;
    ::dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t /*size*/, void* argument) {
            (*static_cast<Visit*>(argument))(
                LoadedModule{object->dlpi_addr, detail::buildIdOf(*object)});
            return 0;
        },
        &visit);
}

} // namespace heapwright::platform
