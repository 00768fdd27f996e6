// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether an instruction is one of this library: read from the library's own header in memory,
// which the linker names, so without the loader, its locks, or a table made at start. Cost: a look
// at a few program headers.
#pragma once

#include <cstddef>
#include <elf.h>
#include <link.h>

#include <heapwright/core/address.hpp>

extern "C" {
[[gnu::visibility("hidden")]] extern const ElfW(Ehdr) heapwrightOwnHeader asm("__ehdr_start");
}

namespace heapwright::preload {

class OwnCode {
public:
    [[nodiscard]] static bool contains(Address instruction) {
        const Address base = addressOf(&heapwrightOwnHeader);
        const auto* const headers =
            static_cast<const ElfW(Phdr)*>(pointerTo(base + heapwrightOwnHeader.e_phoff));
        for (std::size_t i = 0; i < heapwrightOwnHeader.e_phnum; ++i) {
            const ElfW(Phdr)& part = headers[i];
            if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 &&
                instruction - (base + part.p_vaddr) < part.p_memsz) {
                return true;
            }
        }
        return false;
    }
};

} // namespace heapwright::preload
