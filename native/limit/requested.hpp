// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The requested size of each live block, without a change of the block. A map has one byte for each
// 8 bytes of the address space. The byte of a block's address is the requested size plus 1. A size
// that does not fit takes the next bytes of the map too, which belong to the same block.
//
// Invariant: the byte is 0 for a block that was not noted. Its size is then its usable size.
// Without a map (a limit on address space) all sizes are usable sizes. Cost: a byte of memory near
// that of a neighbour block, so an eighth of the heap at most.
#pragma once

#include "recorder/next.hpp"

#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>

namespace heapwright::limit {

class RequestedSizes {
public:
    /// Called once, before any other thread allocates.
    void begin() noexcept {
        void* const map = platform::reservePages(mapBytes);
        if (map != nullptr) {
            const platform::ErrnoKeeper keeper;
            ::madvise(map, mapBytes, MADV_DONTDUMP);
            ::madvise(map, mapBytes, MADV_NOHUGEPAGE);
        }
        map_ = static_cast<std::uint8_t*>(map);
    }

    bool exact() const noexcept { return map_ != nullptr; }

    /// The block is live from now on.
    void note(const void* object, std::size_t requested) noexcept {
        std::uint8_t* const place = placeOf(object);
        if (place == nullptr) [[unlikely]] {
            return;
        }
        if (requested < large - 1) [[likely]] {
            *place = static_cast<std::uint8_t>(requested + 1);
        } else {
            *place = large;
            std::memcpy(place + 1, &requested, sizeof requested);
        }
    }

    /// The requested size of a live block.
    std::size_t of(void* object) const noexcept {
        const std::uint8_t* const place = placeOf(object);
        if (place == nullptr || *place == 0) [[unlikely]] {
            return recorder::nextUsableSize != nullptr ? recorder::nextUsableSize(object) : 0;
        }
        std::size_t requested = *place - std::size_t{1};
        if (*place == large) {
            std::memcpy(&requested, place + 1, sizeof requested);
        }
        return requested;
    }

    /// The block is no longer live.
    void forget(const void* object) noexcept {
        if (std::uint8_t* const place = placeOf(object); place != nullptr) [[likely]] {
            *place = 0;
        }
    }

private:
    static constexpr std::size_t large = 255;
    static constexpr unsigned grainShift = 3;
    static constexpr unsigned addressBits = 48;
    static constexpr std::size_t mapBytes = std::size_t{1} << (addressBits - grainShift);
    static_assert((sizeof(std::size_t) + 1) << grainShift <= large, "a large size has its room");

    std::uint8_t* placeOf(const void* object) const noexcept {
        const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(object);
        const bool mapped = map_ != nullptr && address >> addressBits == 0;
        return mapped ? map_ + (address >> grainShift) : nullptr;
    }

    std::uint8_t* map_ = nullptr;
};

} // namespace heapwright::limit
