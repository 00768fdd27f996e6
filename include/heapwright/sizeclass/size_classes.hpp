// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The interface of a set of size classes. `classFor` rounds a request up to the first class that
// holds it. `classOf` rounds an object's capacity down to the last class that it can serve. Both
// return `count` or more for a size beyond the largest class.
//
// The policies with a tag count in blocks, which are multiples of 16 bytes. The tag takes 8 bytes.
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

/// The bytes of a block that the object cannot use.
inline constexpr std::size_t blockTag = 8;

/// The number of 16-byte units of the block that holds `request` bytes after its tag. It does not
/// overflow for any request.
/// Pre: `request` is not 0.
[[nodiscard]] constexpr std::size_t blockUnitsFor(std::size_t request) noexcept {
    static_assert(blockTag == 8 && minAlignment == 16);
    return ((request - 1) / 8 + 1) / 2 + 1;
}

} // namespace heapwright
