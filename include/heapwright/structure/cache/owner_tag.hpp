// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The word that tells a free the owner of an object, without a table and without a lock.
//
// Memory is divided into units, at multiples of a power of two. The allocator owns the first word
// of every unit in which an object starts. It is the tag of the thread whose cache may keep all
// objects of the unit, or no thread's. An object's unit is that of the byte before it. An object
// with any alignment may thus start at the very start of a unit; its word is in the previous unit.
// Cost: an addition that is part of the address, a mask, a load.
//
// Invariant: a superblock's word is never 0, and the word of any other unit is 0. Tags are even and
// spread over all 64 bits, so that a word before an invalid address is hardly ever a tag.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

using OwnerTag = std::uint64_t;
using OwnerTagWord = SharedWord<OwnerTag>;

/// No cache's tag, and no superblock: a free returns the object to the heap.
inline constexpr OwnerTag noOwnerTag = 0;
/// The bit in a superblock's word that forbids caching of its objects for now.
inline constexpr OwnerTag cachingSuspended = 1;
/// The tag of a thread without a cache. No unit has it.
inline constexpr OwnerTag uncachedOwnerTag = ~OwnerTag{0};

namespace detail {
inline constexpr std::uint64_t spreading = 0x9E37'79B9'7F4A'7C15U;
/// Newton's iteration, which doubles the number of right bits in each step.
inline constexpr std::uint64_t gathering = [] {
    std::uint64_t number = spreading; // right in its lowest three bits
    for (int step = 0; step < 5; ++step) {
        number *= 2 - spreading * number;
    }
    return number;
}();
} // namespace detail

/// The tag of a thread, from its number, which is never reused, and the index of its heap.
/// Pre: `place` is less than 2^12.
[[nodiscard]] constexpr OwnerTag keyOfThread(std::uint32_t number, std::size_t place = 0) noexcept {
    return (((OwnerTag{place} << 32U) + number + 2) * detail::spreading) << 1U;
}

/// The index of the heap of the thread that a tag names. The lowest bit of the tag is ignored. Of
/// 2^20 random words one at most seems to name one of 2^11 heaps.
[[nodiscard, gnu::always_inline]] constexpr std::size_t placeOfThread(OwnerTag key) noexcept {
    const std::uint64_t both = ((key >> 1U) * detail::gathering - 2) & (UINT64_MAX >> 1U);
    return static_cast<std::size_t>(both >> 32U);
}

/// The tag of a heap that threads share, from its index. No cache keeps objects under it.
[[nodiscard]] constexpr OwnerTag keyOfSharedHeap(std::size_t index) noexcept {
    return (OwnerTag{index} + 1) << 1U;
}

/// Whether a word is the tag of a thread. Its lowest bit is ignored. Of 2^19 random words one at
/// most seems to be a tag.
[[nodiscard, gnu::always_inline]] constexpr bool namesThread(OwnerTag key) noexcept {
    return placeOfThread(key) < std::size_t{1} << 12U;
}

/// Whether a tag is a thread's. (Multiples of the golden ratio are far from 0.)
[[nodiscard]] constexpr bool isThreadTag(OwnerTag key) noexcept {
    return key > OwnerTag{1} << 16U;
}

/// The start of an object's unit. For null, an address with the highest bit set.
template <std::size_t UnitBytes>
[[nodiscard, gnu::always_inline]] inline Address unitOf(const void* object) noexcept {
    static_assert((UnitBytes & (UnitBytes - 1)) == 0);
    return (addressOf(object) - 1) & ~Address{UnitBytes - 1};
}

/// The owner tag of an object's unit at this moment; other threads may change it.
/// Pre: `object` is not null.
template <std::size_t UnitBytes>
[[nodiscard, gnu::always_inline]] inline OwnerTag ownerTagOf(const void* object) noexcept {
    return static_cast<const OwnerTagWord*>(pointerTo(unitOf<UnitBytes>(object)))
        ->load(std::memory_order_relaxed);
}

} // namespace heapwright
