// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// For each of several lists, how often in a row it was filled because it was empty, or emptied
// because it was full: whoever does the same thing again and again does more of it at once.
//
// A program that goes on and on allocating, or freeing, has a streak; one that goes to and fro at
// a list's edge has none, and moves no more than it must. Cost: a byte for each list.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Count>
class RepeatCounts {
public:
    /// A streak is told apart up to this length.
    static constexpr std::uint32_t most = 7;

    /// A list is being filled: how often it has been before, since it was last emptied.
    [[nodiscard]] std::uint32_t fill(std::size_t index) noexcept {
        const int before = std::max<int>(repeats_[index], 0);
        repeats_[index] = static_cast<std::int8_t>(std::min<int>(before + 1, most));
        return static_cast<std::uint32_t>(before);
    }
    /// A list is being emptied: how often it has been before, since it was last filled.
    [[nodiscard]] std::uint32_t empty(std::size_t index) noexcept {
        const int before = std::max<int>(-repeats_[index], 0);
        repeats_[index] = static_cast<std::int8_t>(-std::min<int>(before + 1, most));
        return static_cast<std::uint32_t>(before);
    }

private:
    std::array<std::int8_t, Count> repeats_{}; ///< fillings; less than 0: emptyings
};

} // namespace heapwright
