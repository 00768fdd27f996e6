// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a set of size classes has to answer. `classFor` rounds a request up to the first class that
// holds it, `classOf` rounds an object's capacity down to the last class it can serve; both answer
// `count` or more for what is beyond the largest class.
//
// All policies count in blocks, multiples of 16 bytes, of which a tag takes 8.
#pragma once

#include <heapwright/core/address.hpp>

#include <concepts>
#include <cstddef>

namespace heapwright {

template <class C>
concept SizeClasses = requires(std::size_t number) {
    { C::count } -> std::convertible_to<std::size_t>;
    { C::sizeOf(number) } -> std::same_as<std::size_t>;
    { C::classFor(number) } -> std::same_as<std::size_t>;
    { C::classOf(number) } -> std::same_as<std::size_t>;
};

/// What of a block is not the object's.
inline constexpr std::size_t blockTag = 8;

/// How many times 16 bytes a block takes that holds `request` bytes, not 0, behind its tag; no
/// request is so large that this overflows.
[[nodiscard]] constexpr std::size_t blockUnitsFor(std::size_t request) noexcept {
    static_assert(blockTag == 8 && minAlignment == 16);
    return ((request - 1) / 8 + 1) / 2 + 1;
}

} // namespace heapwright
