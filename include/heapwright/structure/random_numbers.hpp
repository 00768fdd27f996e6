// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Fast random numbers for choices that a program should not predict. The system seeds them at the
// first draw, so that a global heap can contain them before any code runs. They are not
// cryptographic: from many complete numbers the next one can be computed.
// Cost: a multiplication and three shifts.
// Source: xorshift64* (Vigna, ACM TOMS 42:4, 2016).
#pragma once

#include <heapwright/platform/random.hpp>

#include <cstddef>
#include <cstdint>

namespace heapwright {

class RandomNumbers {
public:
    constexpr RandomNumbers() noexcept = default;
    /// A reproducible sequence.
    /// Pre: `seed` is not 0.
    constexpr explicit RandomNumbers(std::uint64_t seed) noexcept : state_(seed) {}

    /// A uniform number below `bound`.
    /// Pre: `bound` is neither 0 nor above 2^32.
    [[nodiscard]] std::size_t below(std::size_t bound) noexcept {
        return static_cast<std::size_t>(((next() >> 32U) * bound) >> 32U);
    }

    /// Ends the sequence; the next number starts another. For a forked child, which would continue
    /// the parent's sequence.
    void forget() noexcept { state_ = unseeded; }

private:
    static constexpr std::uint64_t unseeded = 0;

    std::uint64_t next() noexcept {
        if (state_ == unseeded) [[unlikely]] {
            state_ = platform::randomBits() | 1U;
        }
        state_ ^= state_ >> 12U;
        state_ ^= state_ << 25U;
        state_ ^= state_ >> 27U;
        return state_ * 0x2545F4914F6CDD1DU;
    }

    std::uint64_t state_ = unseeded; ///< never 0 after it is seeded
};

} // namespace heapwright
