// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Quick random numbers for choices that a program should not be able to foresee: seeded from the
// system when the first one is drawn, so that a global heap can hold them before any code runs.
// They are no cipher: who sees many of them whole can compute the next. Cost: a multiplication and
// three shifts. xorshift64* (Vigna, ACM TOMS 42:4, 2016).
#pragma once

#include <heapwright/platform/random.hpp>

#include <cstddef>
#include <cstdint>

namespace heapwright {

class RandomNumbers {
public:
    constexpr RandomNumbers() noexcept = default;
    /// A sequence that is the same each time. Pre: `seed` is not 0.
    constexpr explicit RandomNumbers(std::uint64_t seed) noexcept : state_(seed) {}

    /// Evenly one of the numbers below `bound`. Pre: it is neither 0 nor beyond 2^32.
    [[nodiscard]] std::size_t below(std::size_t bound) noexcept {
        return static_cast<std::size_t>(((next() >> 32U) * bound) >> 32U);
    }

    /// Forgets the sequence: the next number begins another. For a forked child, which would go
    /// on with the same numbers as its parent.
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

    std::uint64_t state_ = unseeded; ///< never 0 once it is seeded
};

} // namespace heapwright
