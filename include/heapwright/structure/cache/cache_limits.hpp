// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How many objects a thread keeps in a cache and how many move at once, by the size of the objects
// (layers/thread/owner_cache_heap.hpp). A composition names each limit:
//
//   CacheLimits{.perClassBytes = 8 * KiB, .perClassObjects = 64, ...}
#pragma once

#include <heapwright/core/address.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwright {

struct CacheLimits {
    /// The bytes of one size class that a thread keeps, rounded to whole objects, and one at least.
    std::size_t perClassBytes;
    /// The most objects of one size class that a thread keeps.
    std::size_t perClassObjects;
    /// The bytes that a refill asks for.
    std::size_t refillBytes;
    /// The most objects that a refill brings or a flush hands down. Both double while they repeat
    /// (structure/cache/owner_cache.hpp).
    std::size_t batchObjects;
    /// The most objects of other threads that a thread holds before it hands all of them down.
    std::size_t remoteObjects;
    /// The most bytes of such objects, not counting the last of them.
    std::size_t remoteBytes;
    /// How often a thread with an empty list takes one object of a coarser class instead of a
    /// refill. 0 disables this. It is at most 255.
    std::size_t coarseRefills = 0;

    [[nodiscard]] constexpr bool areValid() const noexcept {
        return perClassObjects >= 1 && batchObjects >= 1 && remoteObjects >= 1 &&
               coarseRefills <= UINT8_MAX;
    }

    /// The same limits with another number of coarse refills.
    [[nodiscard]] constexpr CacheLimits withCoarseRefills(std::size_t number) const noexcept {
        CacheLimits limits = *this;
        limits.coarseRefills = number;
        return limits;
    }

    /// The size of the coarser class for a size: a power of two, or one and a half times that.
    /// Sizes of up to 64 bytes have none, and neither have objects of more than a page, because
    /// they touch pages of their own.
    [[nodiscard]] static constexpr std::size_t coarseSizeFor(std::size_t size) noexcept {
        if (size <= 64 || size > 4 * KiB) {
            return size;
        }
        const std::size_t doubled = std::bit_ceil(size);
        return size <= doubled / 4 * 3 ? doubled / 4 * 3 : doubled;
    }

    /// How many objects of a size a thread keeps.
    [[nodiscard]] constexpr std::uint32_t roomFor(std::size_t size) const noexcept {
        return static_cast<std::uint32_t>(
            std::clamp((perClassBytes + size / 2) / size, std::size_t{1}, perClassObjects));
    }
    /// How many objects a flush hands down: half of what the thread keeps, or a batch.
    [[nodiscard]] constexpr std::uint32_t flushFor(std::size_t size) const noexcept {
        return static_cast<std::uint32_t>(
            std::clamp(roomFor(size) / std::size_t{2}, std::size_t{1}, batchObjects));
    }
    /// How many objects a refill brings. The caller gets one of them.
    [[nodiscard]] constexpr std::uint32_t refillFor(std::size_t size) const noexcept {
        return static_cast<std::uint32_t>(
            std::clamp(refillBytes / size, std::size_t{1},
                       std::min<std::size_t>(batchObjects, roomFor(size))));
    }
};

} // namespace heapwright
