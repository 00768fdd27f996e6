// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The system calls of a heap of extents, and its clock, as a policy. A test can refuse any call and
// move the clock.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/platform/ticks.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// All sizes are in bytes. A function that returns false has had no effect.
/// `map`: zero bytes at a multiple of `alignment`, at the address `wish` if possible; null on
/// failure. `unmap`: unmaps pages. `discard`: keeps the addresses and returns the memory; the bytes
/// are zero. `extend`: changes the length of a mapping in place. `moveOnto`: moves pages onto other
/// pages and replaces them. `moveOutOnto`: the same, and zero bytes stay behind.
/// `wishForHugePages` and `declineHugePages`: what kind of pages a range should have.
/// `residentBytes`: how much of a range has memory; 0 if a part of it is not mapped.
template <class S>
concept ExtentSystem = requires(Address wish, std::size_t n, void* pages) {
    { S::map(wish, n, n) } -> std::same_as<void*>;
    { S::unmap(pages, n) } -> std::same_as<bool>;
    { S::discard(pages, n) } -> std::same_as<bool>;
    { S::extend(pages, n, n) } -> std::same_as<bool>;
    { S::moveOnto(pages, n, pages) } -> std::same_as<bool>;
    { S::moveOutOnto(pages, n, pages) } -> std::same_as<bool>;
    { S::wishForHugePages(pages, n) } -> std::same_as<void>;
    { S::declineHugePages(pages, n) } -> std::same_as<void>;
    { S::residentBytes(pages, n) } -> std::same_as<std::size_t>;
    { S::milliseconds() } -> std::same_as<std::uint32_t>;
};

/// The operating system.
struct SystemExtents {
    [[nodiscard]] static void* map(Address wish, std::size_t bytes,
                                   std::size_t alignment) noexcept {
        return platform::mapPagesNear(wish, bytes, alignment);
    }
    static bool unmap(void* pages, std::size_t bytes) noexcept {
        return platform::unmapPages(pages, bytes);
    }
    static bool discard(void* pages, std::size_t bytes) noexcept {
        return platform::discardPages(pages, bytes);
    }
    [[nodiscard]] static bool extend(void* pages, std::size_t bytes,
                                     std::size_t newBytes) noexcept {
        return platform::resizePages(pages, bytes, newBytes);
    }
    [[nodiscard]] static bool moveOnto(void* pages, std::size_t bytes, void* target) noexcept {
        return platform::movePagesOnto(pages, bytes, target);
    }
    [[nodiscard]] static bool moveOutOnto(void* pages, std::size_t bytes, void* target) noexcept {
        return platform::movePagesOutOnto(pages, bytes, target);
    }
    static void wishForHugePages(void* pages, std::size_t bytes) noexcept {
        platform::wishForHugePages(pages, bytes);
    }
    static void declineHugePages(void* pages, std::size_t bytes) noexcept {
        platform::declineHugePages(pages, bytes);
    }
    [[nodiscard]] static std::size_t residentBytes(void* pages, std::size_t bytes) noexcept {
        return platform::residentBytes(pages, bytes);
    }
    [[nodiscard]] static std::uint32_t milliseconds() noexcept {
        return platform::coarseMilliseconds();
    }
};

} // namespace heapwright
