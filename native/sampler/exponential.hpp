// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The two functions that sampling by bytes needs: a distance to the next sampled byte, and the
// bytes that a sampled block stands for. Both without the mathematical library, which would come
// into each program with the sampler.
//
// Distances have an exponential distribution with the mean `mean`, rounded up to whole bytes. A
// block of `size` bytes then contains a sampled byte with the probability 1 - exp(-size / mean).
// This does not depend on earlier blocks. So a thread may draw a new distance at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright::sampler {

/// The natural logarithm.
/// Pre: `value` is finite, above 0, and normal. Cost: about 40 instructions. Error: below 1e-11.
[[nodiscard]] inline double logarithm(double value) noexcept {
    constexpr double ln2 = 0.69314718055994530942;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    auto exponent = static_cast<std::int64_t>(bits >> 52U) - 1023;
    bits = (bits & 0xF'FFFF'FFFF'FFFFU) | (std::uint64_t{1023} << 52U);
    double mantissa = 0; // from 1 to 2
    std::memcpy(&mantissa, &bits, sizeof mantissa);
    if (mantissa > 1.41421356237309504880) {
        mantissa /= 2;
        ++exponent;
    }
    const double ratio = (mantissa - 1) / (mantissa + 1);
    const double square = ratio * ratio;
    double sum = 0;
    for (int term = 15; term >= 1; term -= 2) { // the series of artanh
        sum = sum * square + 1.0 / term;
    }
    return 2 * ratio * sum + static_cast<double>(exponent) * ln2;
}

/// exp(-value).
/// Pre: `value` is not negative. Error: below 1e-12.
[[nodiscard]] inline double decay(double value) noexcept {
    constexpr double ln2 = 0.69314718055994530942;
    if (value > 700) {
        return 0;
    }
    const auto halvings = static_cast<std::uint64_t>(value / ln2);
    const double rest = value - static_cast<double>(halvings) * ln2;
    double sum = 1;
    for (int term = 16; term >= 1; --term) { // Horner's form of the series
        sum = 1 - sum * rest / term;
    }
    const std::uint64_t bits = (1023 - halvings) << 52U;
    double power = 0;
    std::memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/// The distance to the next sampled byte, at least 1. `random` has 64 uniform bits.
[[nodiscard]] inline std::uint64_t distance(std::uint64_t random, double mean) noexcept {
    const double uniform = (static_cast<double>(random >> 11U) + 0.5) * 0x1p-53; // never 0 or 1
    return static_cast<std::uint64_t>(-logarithm(uniform) * mean) + 1;
}

/// The bytes that a sampled block of this size stands for: its size divided by the probability
/// that it is sampled.
[[nodiscard]] inline std::uint64_t represented(std::size_t size, double mean) noexcept {
    const double ratio = static_cast<double>(size) / mean;
    if (ratio < 1e-6) {
        return static_cast<std::uint64_t>(mean); // the limit, which the division would lose
    }
    return static_cast<std::uint64_t>(static_cast<double>(size) / (1 - decay(ratio)));
}

} // namespace heapwright::sampler
