// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether an address is in this library's code; in a static program, in the whole program. It reads
// the library's own ELF header in memory, whose address the linker provides, so it needs no loader,
// no lock and no table. Cost: a loop over a few program headers.
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
        const Address header = addressOf(&heapwrightOwnHeader);
        const auto* const headers =
            static_cast<const ElfW(Phdr)*>(pointerTo(header + heapwrightOwnHeader.e_phoff));
        // The addresses in the file begin at 0 in a library, and elsewhere in a static program.
        const Address base = header - lowestIn(headers);
        for (std::size_t i = 0; i < heapwrightOwnHeader.e_phnum; ++i) {
            const ElfW(Phdr)& part = headers[i];
            if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 &&
                instruction - (base + part.p_vaddr) < part.p_memsz) {
                return true;
            }
        }
        return false;
    }

private:
    /// The address in the file of the part that contains the ELF header.
    [[nodiscard]] static Address lowestIn(const ElfW(Phdr) * headers) {
        for (std::size_t i = 0; i < heapwrightOwnHeader.e_phnum; ++i) {
            if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0) {
                return headers[i].p_vaddr;
            }
        }
        return 0;
    }
};

} // namespace heapwright::preload
