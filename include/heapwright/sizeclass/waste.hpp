// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The worst-case internal fragmentation of a set of size classes, computed from the classes
// themselves.
//
// A block of B bytes, of which the tag takes 8, serves a request r. The waste is (B - 8 - r) / B.
// It is the share of the block that is neither the object nor its tag. The worst request of a class
// is one byte more than the class below holds.
// Source: the term is Randell's (CACM 12:7, 1969). jemalloc's manual states about a fifth for four
// classes per doubling, except for the smallest.
#pragma once

#include <heapwright/sizeclass/size_classes.hpp>

#include <cstddef>

namespace heapwright {

/// An exact fraction, so that an assertion can compare without rounding.
struct Waste {
    std::size_t bytes; ///< bytes that are neither object nor tag
    std::size_t block; ///< the size of the block

    [[nodiscard]] constexpr bool isAtMost(std::size_t numerator,
                                          std::size_t denominator) const noexcept {
        return compare(*this, {numerator, denominator}) <= 0;
    }
    [[nodiscard]] constexpr double share() const noexcept {
        return static_cast<double>(bytes) / static_cast<double>(block);
    }
    /// Negative, zero or positive as `a` is less than, equal to or more than `b`.
    [[nodiscard]] static constexpr int compare(Waste a, Waste b) noexcept {
        __extension__ using Wide = unsigned __int128;
        const Wide left = Wide{a.bytes} * b.block;
        const Wide right = Wide{b.bytes} * a.block;
        return left < right ? -1 : (left > right ? 1 : 0);
    }
};

/// The worst waste of any request from `least` bytes to the largest class; zero if that is smaller.
/// Pre: `least` is not 0.
template <SizeClasses Classes>
[[nodiscard]] constexpr Waste worstCaseWaste(std::size_t least = 1) noexcept {
    Waste worst{0, 1};
    for (std::size_t index = Classes::classFor(least), request = least; index < Classes::count;
         ++index) {
        const std::size_t block = Classes::sizeOf(index) + blockTag;
        const Waste waste{block - blockTag - request, block};
        if (Waste::compare(waste, worst) > 0) {
            worst = waste;
        }
        request = Classes::sizeOf(index) + 1;
    }
    return worst;
}

} // namespace heapwright
