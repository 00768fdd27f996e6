// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The size from which a request gets a mapping of its own.
//
// A fixed limit is simple and keeps the heap small. A program that repeatedly allocates and frees
// large objects then pays two system calls for each, and a page fault for each page. The rising
// limit adapts: a mapped object that is freed was transient, so the heap serves objects of its size
// from then on.
// Source: the rising limit is that of the GNU C library.
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

/// A constant limit.
template <std::size_t Limit>
class FixedLimit {
public:
    [[nodiscard]] static constexpr bool isLarge(std::size_t size) noexcept { return size >= Limit; }
    static constexpr void noteFreed(std::size_t /*size*/) noexcept {}
};

/// A limit that starts at `First` and rises to the size of the largest freed object, at most to
/// `Last`. `noteFreed` gets the usable size of a mapping, which is larger than its request. So the
/// same request is not large afterwards.
template <std::size_t First, std::size_t Last>
class RisingLimit {
public:
    [[nodiscard]] bool isLarge(std::size_t size) const noexcept {
        return size >= limit_.load(std::memory_order_relaxed);
    }
    /// If two threads raise the limit at the same time, one update may be lost.
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
