// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether one x86-64 instruction locks, from its bytes. It has the prefix F0, or it is an xchg with
// memory, which always locks. Source: Intel, Software Developer's Manual, volume 3, 9.1.2.
#pragma once

#include <cstdint>
#include <span>

namespace heapwright::valgrind {

enum class Locking : std::uint8_t { none, prefix, exchange };

/// `bytes` begin with the instruction. Missing bytes count as no lock.
constexpr Locking lockingOf(std::span<const std::uint8_t> bytes) {
    // Legacy prefixes come in any order, then at most one REX prefix, then the opcode.
    std::size_t at = 0;
    for (; at < bytes.size(); ++at) {
        const std::uint8_t byte = bytes[at];
        if (byte == 0xF0) {
            return Locking::prefix;
        }
        const bool legacy = byte == 0x66 || byte == 0x67 || byte == 0xF2 || byte == 0xF3 ||
                            byte == 0x2E || byte == 0x36 || byte == 0x3E || byte == 0x26 ||
                            byte == 0x64 || byte == 0x65;
        if (!legacy) {
            break;
        }
    }
    if (at < bytes.size() && (bytes[at] & 0xF0) == 0x40) {
        ++at;
    }
    const bool exchanges = at + 1 < bytes.size() && (bytes[at] == 0x86 || bytes[at] == 0x87);
    return exchanges && bytes[at + 1] < 0xC0 ? Locking::exchange : Locking::none;
}

} // namespace heapwright::valgrind
