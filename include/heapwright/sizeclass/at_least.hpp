// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The classes of another policy, with requests below `Least` bytes raised to `Least`. A heap needs
// this if its smallest object is larger than the smallest class. Otherwise a freed object would
// enter the class of its own size, and the requested class would never have a free object.
// Cost: a compare.
#pragma once

#include <heapwright/sizeclass/size_classes.hpp>

#include <cstddef>
#include <type_traits>

namespace heapwright {

template <std::size_t Least, SizeClasses Classes>
struct AtLeast {
    static constexpr std::size_t count = Classes::count;

    [[nodiscard]] static constexpr std::size_t sizeOf(std::size_t index) noexcept {
        return Classes::sizeOf(index);
    }
    [[nodiscard]] static constexpr std::size_t classFor(std::size_t request) noexcept {
        return Classes::classFor(request < Least ? Least : request);
    }
    [[nodiscard]] static constexpr std::size_t classOf(std::size_t capacity) noexcept {
        return Classes::classOf(capacity);
    }
};

/// `AtLeast`, if some class is smaller than `Least`; otherwise the classes themselves.
template <std::size_t Least, SizeClasses Classes>
using RaisedTo = std::conditional_t<(Classes::sizeOf(0) < Least), AtLeast<Least, Classes>, Classes>;

} // namespace heapwright
