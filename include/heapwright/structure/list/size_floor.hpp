// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A lower bound of the objects' sizes in a free list that does not compare sizes. It is the
// smallest request that any of them was allocated for. A larger request cannot be served from the
// list. If all requests have one size, as intended, the bound is that size, and its only cost is a
// compare.
#pragma once

#include <cstddef>

namespace heapwright {

/// `Trusting`: the list gets its objects by frees, all of one size. Nothing is recorded.
template <bool Trusting>
class SizeFloor {
public:
    constexpr SizeFloor() noexcept = default;

    [[nodiscard]] bool covers(std::size_t size) const noexcept { return size <= floor_; }
    void note(std::size_t size) noexcept { floor_ = size < floor_ ? size : floor_; }
    void reset() noexcept { floor_ = nothing; }
    /// The bytes that `count` objects have at least.
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
