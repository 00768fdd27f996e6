// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Fragmentation: the peak of memory taken from the system, divided by the peak of requested bytes
// in use. The two peaks need not be at the same time. The best value is 1.
// Source: Johnstone and Wilson (1998, their fourth measure); Berger (2002).
#pragma once

#include <heapwright/structure/observe/fixed_text.hpp>

#include <cstddef>

namespace heapwright {

struct Fragmentation {
    std::size_t inUse = 0;     ///< requested bytes that are not freed
    std::size_t mostInUse = 0; ///< maximum of `inUse` so far
    std::size_t taken = 0;     ///< bytes that the heap below has from its sources
    std::size_t mostTaken = 0; ///< maximum of `taken` so far

    /// `mostTaken` / `mostInUse`; 0 before the first use.
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
