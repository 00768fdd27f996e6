// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the check mode writes into an object: bytes that follow from where the object stands and
// from their place in it, so that neither another object's bytes nor moved ones pass for the right
// ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright::replay {

/// The words of an object that was filled while it stood at `address`.
constexpr std::uint64_t wordOf(std::uint64_t address, std::size_t index) {
    return ((address + index) * 0x9e37'79b9'7f4a'7c15U) | 0x0101'0101'0101'0101U;
}

inline void fill(void* object, std::size_t size) {
    char* const bytes = static_cast<char*>(object);
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(object);
    for (std::size_t at = 0; at < size; at += sizeof address) {
        const std::uint64_t word = wordOf(address, at / sizeof word);
        std::memcpy(bytes + at, &word, size - at < sizeof word ? size - at : sizeof word);
    }
}

/// The first byte that is not as `fill` left it in an object at `address`; `size` if there is none.
inline std::size_t firstUnlike(const void* object, std::size_t size, std::uint64_t address) {
    const char* const bytes = static_cast<const char*>(object);
    for (std::size_t at = 0; at < size; at += sizeof address) {
        const std::uint64_t word = wordOf(address, at / sizeof word);
        const std::size_t many = size - at < sizeof word ? size - at : sizeof word;
        char expected[sizeof word];
        std::memcpy(expected, &word, sizeof word);
        for (std::size_t each = 0; each < many; ++each) {
            if (bytes[at + each] != expected[each]) {
                return at + each;
            }
        }
    }
    return size;
}

inline std::size_t firstNotZero(const void* object, std::size_t size) {
    const char* const bytes = static_cast<const char*>(object);
    std::size_t at = 0;
    while (at < size && bytes[at] == 0) {
        ++at;
    }
    return at;
}

} // namespace heapwright::replay
