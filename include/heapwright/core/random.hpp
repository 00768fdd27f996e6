// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pseudo-random numbers: a Weyl sequence, mixed (the generator known as SplitMix64, Steele, Lea and
// Flood 2014). The same seed gives the same numbers on every machine, which the distributions of
// the standard library do not promise. Ten instructions a number, no state but a word; not for
// secrets.
#pragma once

#include <cstdint>

namespace heapwright {

class Random {
public:
    /// Streams of one seed are unrelated: a thread, or a round, is one.
    explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0)
        : state_(mixed(seed + 1) ^ mixed(~stream)) {}

    constexpr std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        return mixed(state_);
    }

    /// Below `bound`, which is not 0: the upper half of a product, without a division.
    constexpr std::uint64_t below(std::uint64_t bound) {
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64U);
    }

    /// Between the two, both included; they are less than 2^64 - 1 apart.
    constexpr std::uint64_t between(std::uint64_t least, std::uint64_t most) {
        return least + below(most - least + 1);
    }

    /// In [0, 1).
    constexpr double real() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

    constexpr bool chance(double probability) { return real() < probability; }

    /// Numbers that differ a little come out unrelated, and no two come out the same.
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
