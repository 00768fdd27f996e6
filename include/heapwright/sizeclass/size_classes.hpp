// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a set of size classes has to answer. `classFor` rounds a request up to the first class that
// holds it, `classOf` rounds an object's capacity down to the last class it can serve; both answer
// `count` or more for what is beyond the largest class.
#pragma once

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

} // namespace heapwright
