// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes known contents into objects and verifies them. An allocator that hands out an object twice
// is thereby detected, and the saving by a constructor is part of the measurement.
//
// Without a constructor, the first 64 bytes are written when the object is allocated. The first
// word gets a stamp that no other live object has. With a constructor, the object arrives
// constructed, and its second word holds the stamp while it is live. The constructor leaves the
// bytes beyond the largest power of two below the object's size untouched.
#pragma once

#include "kernelsim/outcome.hpp"
#include "kernelsim/traffic.hpp"

#include <heapwright/structure/kernel/kernel_cache.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright::kernelsim {

inline constexpr std::size_t word = sizeof(std::uint64_t);
inline constexpr std::uint64_t constructedWord = 0xC0DE'0B1E'C7ED'5EEDU;
inline constexpr std::size_t filledBytes = 64;

inline std::uint64_t readWord(const void* object, std::size_t at) noexcept {
    std::uint64_t found = 0;
    std::memcpy(&found, static_cast<const char*>(object) + at, word);
    return found;
}
inline void writeWord(void* object, std::size_t at, std::uint64_t value) noexcept {
    std::memcpy(static_cast<char*>(object) + at, &value, word);
}

template <std::size_t Bytes>
void construct(void* object) {
    for (std::size_t at = 0; at < Bytes; at += word)
        writeWord(object, at, constructedWord);
}

/// The constructor for objects of a size of 8 bytes or more.
inline auto constructorFor(std::size_t size) noexcept -> void (*)(void*) {
    constexpr std::array<void (*)(void*), 10> all = {
        &construct<8>,   &construct<16>,  &construct<32>,   &construct<64>,   &construct<128>,
        &construct<256>, &construct<512>, &construct<1024>, &construct<2048>, &construct<4096>};
    const auto floor = static_cast<std::size_t>(std::bit_width(size)) - 4;
    return all[std::min(floor, all.size() - 1)];
}

inline CacheTraits traitsOf(const CacheKind& kind) noexcept {
    CacheTraits traits;
    traits.name = kind.name.c_str();
    traits.size = kind.size;
    traits.align = std::max(kind.align, word);
    traits.reclaimable = kind.reclaimable;
    if (kind.constructed && kind.size >= word)
        traits.constructor = constructorFor(kind.size);
    return traits;
}

/// The first access to an allocated object. Throws ModelFault if it is not as constructed.
inline void fillObject(void* object, std::size_t size, bool constructed, std::uint64_t stamp) {
    if (size < word)
        return;
    if (!constructed) {
        std::memset(object, 0, std::min(size, filledBytes));
        writeWord(object, 0, stamp);
        return;
    }
    const bool whole = readWord(object, 0) == constructedWord &&
                       (size < 2 * word || readWord(object, word) == constructedWord);
    if (!whole)
        throw ModelFault("an object was returned without being constructed");
    if (size >= 2 * word)
        writeWord(object, word, stamp);
}

/// The last access before the free. Throws ModelFault if the stamp has changed. A constructed
/// object is restored to its constructed state.
inline void verifyObject(void* object, std::size_t size, bool constructed, std::uint64_t stamp) {
    const std::size_t at = constructed ? word : 0;
    if (size < at + word)
        return;
    if (readWord(object, at) != stamp)
        throw ModelFault("a live object was overwritten or returned twice");
    if (constructed)
        writeWord(object, word, constructedWord);
}

} // namespace heapwright::kernelsim
