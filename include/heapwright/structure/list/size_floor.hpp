// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A free list that stores no sizes must not serve a request that is larger than one of its objects.
// It remembers the smallest request that it passed to the heap below. Each object of the list is at
// least that large. The list serves a request up to this size, and passes larger ones on.
//
// Cost: one comparison for each request. If all requests have one size, none is passed on for it.
#pragma once

#include <cstddef>

namespace heapwright {

/// The smallest request size noted since the start or `reset`. With `Trusting` nothing is recorded,
/// and every request is covered: the caller guarantees sizes, or the list compares them itself.
template <bool Trusting>
class SizeFloor {
public:
    constexpr SizeFloor() noexcept = default;

    [[nodiscard]] bool covers(std::size_t size) const noexcept { return size <= floor_; }
    void note(std::size_t size) noexcept { floor_ = size < floor_ ? size : floor_; }
    void reset() noexcept { floor_ = nothing; }
    /// A lower bound of the bytes in `count` objects.
    [[nodiscard]] std::size_t times(std::size_t count) const noexcept {
        return count == 0 || floor_ == nothing ? 0 : count * floor_;
    }

private:
    static constexpr std::size_t nothing = ~std::size_t{0};

    std::size_t floor_ = nothing;
};

template <>
class SizeFloor<true> {
public:
    [[nodiscard]] static constexpr bool covers(std::size_t /*size*/) noexcept { return true; }
    static constexpr void note(std::size_t /*size*/) noexcept {}
    static constexpr void reset() noexcept {}
    [[nodiscard]] static constexpr std::size_t times(std::size_t /*count*/) noexcept { return 0; }
};

} // namespace heapwright
