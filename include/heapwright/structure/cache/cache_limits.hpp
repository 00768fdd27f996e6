// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How much a thread keeps for itself in a cache, and how much moves at once, by the size of the
// objects (layers/thread/owner_cache_heap.hpp).
//
// A thread keeps `Bytes` of each size class, but no more than `Most` objects; one at least. It is
// filled with `Refill` bytes, as many objects at most as are handed down at once when it has no
// more room: `Batch` of them, or half of what it keeps; more when that happens again and again
// (structure/cache/owner_cache.hpp). Of what is not at home with it a thread
// holds up to `Remote` objects, together no more than `RemoteBytes` and one, before all go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Bytes, std::size_t Most, std::size_t Refill, std::size_t Batch,
          std::size_t Remote, std::size_t RemoteBytes>
struct CacheLimits {
    static_assert(Most >= 1 && Batch >= 1 && Remote >= 1);

    static constexpr std::size_t remoteObjects = Remote;
    static constexpr std::size_t remoteBytes = RemoteBytes;

    /// How many objects of a size a thread keeps.
    [[nodiscard]] static constexpr std::uint32_t roomFor(std::size_t size) noexcept {
        return static_cast<std::uint32_t>(std::clamp(Bytes / size, std::size_t{1}, Most));
    }
    /// How many it hands down when there are more.
    [[nodiscard]] static constexpr std::uint32_t flushFor(std::size_t size) noexcept {
        return static_cast<std::uint32_t>(
            std::clamp(roomFor(size) / std::size_t{2}, std::size_t{1}, Batch));
    }
    /// How many it gets at once, the one asked for among them.
    [[nodiscard]] static constexpr std::uint32_t refillFor(std::size_t size) noexcept {
        return static_cast<std::uint32_t>(
            std::clamp(Refill / size, std::size_t{1}, std::min<std::size_t>(Batch, roomFor(size))));
    }
};

} // namespace heapwright
