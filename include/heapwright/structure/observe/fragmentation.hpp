// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Fragmentation, as Johnstone and Wilson (1998, their fourth measure) and Berger (2002) define it:
// the most memory that was ever taken from the system over the most that was ever in use, in the
// sizes that were asked for. The two need not be at the same time. 1 is perfect.
#pragma once

#include <heapwright/structure/observe/fixed_text.hpp>

#include <cstddef>

namespace heapwright {

struct Fragmentation {
    std::size_t inUse = 0;     ///< bytes that were asked for and not given back
    std::size_t mostInUse = 0; ///< the most of that so far
    std::size_t taken = 0;     ///< bytes that the heap below has from its sources
    std::size_t mostTaken = 0; ///< the most of that so far

    /// Most taken over most in use; 0 before anything was in use.
    [[nodiscard]] constexpr double ratio() const noexcept {
        return mostInUse == 0 ? 0.0
                              : static_cast<double>(mostTaken) / static_cast<double>(mostInUse);
    }

    constexpr void use(std::size_t bytes) noexcept {
        inUse += bytes;
        mostInUse = mostInUse < inUse ? inUse : mostInUse;
    }
    constexpr void unuse(std::size_t bytes) noexcept { inUse -= bytes; }

    constexpr void see(std::size_t takenNow) noexcept {
        taken = takenNow;
        mostTaken = mostTaken < taken ? taken : mostTaken;
    }

    /// One line of text, up to about 180 characters.
    template <std::size_t Capacity>
    constexpr void writeTo(FixedText<Capacity>& text) const noexcept {
        text.put("in use ").putNumber(inUse).put(", at most ").putNumber(mostInUse);
        text.put("; taken ").putNumber(taken).put(", at most ").putNumber(mostTaken);
        text.put("; fragmentation ").putRatio(mostTaken, mostInUse).put('\n');
    }
};

} // namespace heapwright
