// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How large every object of a freelist is at least, so that none serves a request that it is too
// small for: the least size that any of them was asked for with. What lists that compare no sizes
// know instead of them. Where all requests are for one size, as they should be, it is that size,
// and all that it costs is a compare.
#pragma once

#include <cstddef>

namespace heapwright {

/// `Trusting`: objects are not asked for here but given, all of one size; nothing is kept.
template <bool Trusting>
class SizeFloor {
public:
    constexpr SizeFloor() noexcept = default;

    [[nodiscard]] bool covers(std::size_t size) const noexcept { return size <= floor_; }
    void note(std::size_t size) noexcept { floor_ = size < floor_ ? size : floor_; }
    void reset() noexcept { floor_ = nothing; }
    /// What `count` objects hold at least.
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
