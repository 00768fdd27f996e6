// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// From which size on a request is served by a mapping of its own.
//
// A fixed limit is simple and keeps the heap lean, but a program that takes and gives back large
// objects in turn pays for each with two system calls and a page fault per page. The rising limit
// learns from what is freed, as the GNU C library's does: a mapped object that is given back shows
// that its size is transient, so from then on the heap serves it.
#pragma once

#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>

namespace heapwright {

template <class L>
concept LargeLimit = requires(L limit, std::size_t size) {
    { limit.isLarge(size) } -> std::same_as<bool>;
    { limit.noteFreed(size) } -> std::same_as<void>;
};

/// Always the same limit.
template <std::size_t Limit>
class FixedLimit {
public:
    [[nodiscard]] static constexpr bool isLarge(std::size_t size) noexcept { return size >= Limit; }
    static constexpr void noteFreed(std::size_t /*size*/) noexcept {}
};

/// From `First`, up to the largest object freed, but never beyond `Last`.
template <std::size_t First, std::size_t Last>
class RisingLimit {
public:
    [[nodiscard]] bool isLarge(std::size_t size) const noexcept {
        return size >= limit_.load(std::memory_order_relaxed);
    }
    /// (Of two threads that raise it at once one may be forgotten.)
    void noteFreed(std::size_t size) noexcept {
        if (size <= Last && isLarge(size)) {
            limit_.store(size, std::memory_order_relaxed);
        }
    }

private:
    static_assert(First <= Last);

    SharedWord<std::size_t> limit_{First};
};

} // namespace heapwright
