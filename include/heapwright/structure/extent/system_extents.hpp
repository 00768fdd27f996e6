// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a heap of extents asks of the system: memory at large multiples, back and forth, and the
// time. As a policy, so that a test can refuse what it likes and move the clock.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/platform/ticks.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// `map`: zero bytes at a multiple of `alignment`, best at the address wished for, or null.
/// `discard`: the addresses stay, the bytes are zero and no memory. `extend`: makes a mapping
/// longer or shorter where it is. `moveOnto`: onto other pages, which it replaces; `moveOutOnto`:
/// the same, but zero bytes stay behind. False, and nothing has changed, where that cannot be.
template <class S>
concept ExtentSystem = requires(Address wish, std::size_t n, void* pages) {
    { S::map(wish, n, n) } -> std::same_as<void*>;
    { S::unmap(pages, n) } -> std::same_as<bool>;
    { S::discard(pages, n) } -> std::same_as<bool>;
    { S::extend(pages, n, n) } -> std::same_as<bool>;
    { S::moveOnto(pages, n, pages) } -> std::same_as<bool>;
    { S::moveOutOnto(pages, n, pages) } -> std::same_as<bool>;
    { S::wishForHugePages(pages, n) } -> std::same_as<void>;
    { S::milliseconds() } -> std::same_as<std::uint32_t>;
};

/// The system as it is.
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
    [[nodiscard]] static std::uint32_t milliseconds() noexcept {
        return platform::coarseMilliseconds();
    }
};

} // namespace heapwright
