// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The first classes of another policy: those whose objects have at most `Most` bytes. A cache of
// small objects uses it over a heap that also has large ones, so that both have the same classes.
#pragma once

#include <heapwright/sizeclass/size_classes.hpp>

#include <cstddef>

namespace heapwright {

template <std::size_t Most, SizeClasses Classes>
struct UpTo {
    static constexpr std::size_t count = [] {
        std::size_t number = 0;
        while (number < Classes::count && Classes::sizeOf(number) <= Most) {
            ++number;
        }
        return number;
    }();
    static_assert(count != 0, "`Most` is not below the smallest class");

    [[nodiscard]] static constexpr std::size_t sizeOf(std::size_t index) noexcept {
        return Classes::sizeOf(index);
    }
    /// May be greater than `count`, for a request that only a larger class of the other policy
    /// holds.
    [[nodiscard]] static constexpr std::size_t classFor(std::size_t request) noexcept {
        return Classes::classFor(request);
    }
    [[nodiscard]] static constexpr std::size_t classOf(std::size_t capacity) noexcept {
        return Classes::classOf(capacity);
    }
};

} // namespace heapwright
