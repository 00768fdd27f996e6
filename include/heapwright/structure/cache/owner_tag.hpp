// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The word from which a free knows, without a table and without a lock, whose an object is.
//
// Memory is cut into units, at multiples of a power of two. The first word of every unit in which
// an object starts is the allocator's: the key of the thread that may keep all of the unit's
// objects in its cache, or nobody's. An object's unit is that of the byte before it: so an object
// may stand at the very start of a unit, aligned as widely as one likes, and its word is that of
// the unit before. Cost: an addition that is part of the address, a mask, a load.
//
// A superblock's word is never 0, what is no superblock has 0. Keys are even and spread over all
// 64 bits, so that what stands before an address that is none of an object will not be one.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

using OwnerTag = std::uint64_t;
using OwnerTagWord = SharedWord<OwnerTag>;

/// Nobody's cache, and no superblock: what is freed goes to whom it belongs.
inline constexpr OwnerTag noOwnerTag = 0;
/// The bit of a superblock's word that says that nobody may keep anything of it for now.
inline constexpr OwnerTag cachingSuspended = 1;
/// The home of a thread that has no cache. No unit has it.
inline constexpr OwnerTag uncachedOwnerTag = ~OwnerTag{0};

/// The key of a thread, by the number that it has alone for good.
[[nodiscard]] constexpr OwnerTag keyOfThread(std::uint32_t number) noexcept {
    return ((OwnerTag{number} + 2) * 0x9E37'79B9'7F4A'7C15U) << 1U;
}

/// The key of a heap that threads share, by its number. Nobody keeps anything under it.
[[nodiscard]] constexpr OwnerTag keyOfSharedHeap(std::size_t index) noexcept {
    return (OwnerTag{index} + 1) << 1U;
}

/// Whether a key is one thread's. (Multiples of the golden section keep their distance from 0.)
[[nodiscard]] constexpr bool isThreadTag(OwnerTag key) noexcept {
    return key > OwnerTag{1} << 20U;
}

/// The first address of an object's unit. Of null it is one with the highest bit set.
template <std::size_t UnitBytes>
[[nodiscard, gnu::always_inline]] inline Address unitOf(const void* object) noexcept {
    static_assert((UnitBytes & (UnitBytes - 1)) == 0);
    return (addressOf(object) - 1) & ~Address{UnitBytes - 1};
}

/// The owner tag of an object's unit, as it stands now; others may change it meanwhile. Pre:
/// `object` is not null.
template <std::size_t UnitBytes>
[[nodiscard, gnu::always_inline]] inline OwnerTag ownerTagOf(const void* object) noexcept {
    return static_cast<const OwnerTagWord*>(pointerTo(unitOf<UnitBytes>(object)))
        ->load(std::memory_order_relaxed);
}

} // namespace heapwright
