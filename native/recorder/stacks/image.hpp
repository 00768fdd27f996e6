// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A loaded object of the process: where it lies, what it is called, how its build is known, and
// where its tables for unwinding are. Found by an address of its code, without a lock where the C
// library has _dl_find_object.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::recorder::stacks {

struct Image {
    std::uint64_t begin = 0; ///< what the loader has mapped for it
    std::uint64_t end = 0;
    std::uint64_t bias = 0; ///< address in memory − address in the file
    /// The search table of the unwinding tables (PT_GNU_EH_FRAME), and the segment that it lies in,
    /// of which alone bytes may be read. Null where there is none.
    const std::uint8_t* table = nullptr;
    const std::uint8_t* segment = nullptr;
    const std::uint8_t* segmentEnd = nullptr;
    const std::uint8_t* buildId = nullptr;
    std::uint32_t buildIdLength = 0;
    std::uint64_t dynamic = 0; ///< where its dynamic section is; 0 = nowhere
    const char* path = "";     ///< as the loader knows it; empty for the program itself

    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        return address - begin < end - begin;
    }
};

/// The object that an address lies in; false if in none.
bool findImage(std::uint64_t address, Image& image) noexcept;

} // namespace heapwright::recorder::stacks
