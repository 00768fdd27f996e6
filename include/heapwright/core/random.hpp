// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pseudo-random numbers: SplitMix64, a mixed Weyl sequence. The same seed gives the same numbers on
// every machine, which the distributions of the standard library do not guarantee. Not for secrets.
//
// Cost: about ten instructions for each number, and one word of state.
// Source: Steele, Lea and Flood, 2014.
#pragma once

#include <cstdint>

namespace heapwright {

class Random {
public:
    /// Streams of one seed are unrelated. Give each thread, or each round, its own stream.
    explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0)
        : state_(mixed(seed + 1) ^ mixed(~stream)) {}

    constexpr std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        return mixed(state_);
    }

    /// A number below `bound`: the upper half of a product, without a division.
    /// Pre: `bound` is not 0.
    constexpr std::uint64_t below(std::uint64_t bound) {
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64U);
    }

    /// A number from `least` to `most`, both included.
    /// Pre: they are less than 2^64 - 1 apart.
    constexpr std::uint64_t between(std::uint64_t least, std::uint64_t most) {
        return least + below(most - least + 1);
    }

    /// A number in [0, 1).
    constexpr double real() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

    constexpr bool chance(double probability) { return real() < probability; }

    /// A bijection that turns similar numbers into unrelated ones.
    static constexpr std::uint64_t mixed(std::uint64_t value) {
        value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
        value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
        return value ^ (value >> 31U);
    }

private:
    __extension__ using Wide = unsigned __int128;

    std::uint64_t state_;
};

} // namespace heapwright
