// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Test patterns for the contents of objects. Each word depends on a stamp and on its position. A
// stamp is unique to one object, so neither bytes of another object nor moved bytes match. No byte
// is zero, so cleared memory does not match either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright::contents {

constexpr std::uint64_t wordAt(std::uint64_t stamp, std::size_t word) {
    return (stamp + word * 0x9e3779b97f4a7c15U) | 0x0101010101010101U;
}

inline void fill(void* object, std::size_t size, std::uint64_t stamp) {
    char* const bytes = static_cast<char*>(object);
    for (std::size_t at = 0; at < size; at += sizeof stamp) {
        const std::uint64_t word = wordAt(stamp, at / sizeof stamp);
        std::memcpy(bytes + at, &word, size - at < sizeof word ? size - at : sizeof word);
    }
}

/// The offset of the first byte that differs from what `fill` wrote; `size` if none differs.
inline std::size_t firstUnlike(const void* object, std::size_t size, std::uint64_t stamp) {
    const char* const bytes = static_cast<const char*>(object);
    for (std::size_t at = 0; at < size; at += sizeof stamp) {
        const std::uint64_t word = wordAt(stamp, at / sizeof stamp);
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
    for (std::size_t at = 0; at < size; ++at) {
        if (bytes[at] != 0) {
            return at;
        }
    }
    return size;
}

} // namespace heapwright::contents
