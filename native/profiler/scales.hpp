// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Two scales on which counts are kept. Both have few steps, so that a table over a scale is small
// for any counts. Both are intervals (low, high], so that a limit belongs to the interval below it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwright::profiler {

/// How many bits a number has that is not 0 and below 2^53. By way of its exponent as a double:
/// many processors without an instruction for just that look for the highest bit slowly.
inline std::uint64_t quickWidth(std::uint64_t number) {
    constexpr std::uint64_t bias = 1022;
    const auto floating = static_cast<double>(static_cast<std::int64_t>(number));
    return (std::bit_cast<std::uint64_t>(floating) >> 52) - bias;
}

/// Times in ns in steps of 1, 2 and 5 from 100 ns to 5e15 ns. The limits of 100 ms and 1 s are
/// among them. The last step has no end.
class TimeScale {
public:
    static constexpr std::size_t steps = 43;

    static constexpr std::size_t step(std::uint64_t nanoseconds) {
        // An octave holds one limit at most, since a limit is at least twice the one before.
        const Octave octave = octaves[static_cast<std::size_t>(std::bit_width(nanoseconds))];
        return octave.below + (nanoseconds > octave.limit ? 1U : 0U);
    }
    /// The same of a time below 2^53 ns.
    static std::size_t quickStep(std::uint64_t nanoseconds) {
        const Octave octave = octaves[static_cast<std::size_t>(quickWidth(nanoseconds | 1))];
        return octave.below + (nanoseconds > octave.limit ? 1U : 0U);
    }
    static constexpr std::uint64_t low(std::size_t step) {
        return step == 0 ? 0 : limits[step - 1];
    }
    static constexpr std::uint64_t high(std::size_t step) { return limits[step]; }

private:
    struct Octave {
        std::uint64_t limit;
        std::size_t below; ///< limits that are smaller than all numbers of the octave
    };

    static constexpr std::array<std::uint64_t, steps> limits = [] {
        std::array<std::uint64_t, steps> all{};
        std::uint64_t decade = 100;
        for (std::size_t step = 0; step + 1 < steps; step += 3, decade *= 10) {
            all[step] = decade;
            all[step + 1] = 2 * decade;
            all[step + 2] = 5 * decade;
        }
        all[steps - 1] = UINT64_MAX;
        return all;
    }();

    static constexpr std::array<Octave, 65> octaves = [] {
        std::array<Octave, 65> all{};
        for (std::size_t width = 0; width <= 64; ++width) {
            const std::uint64_t least = width == 0 ? 0 : std::uint64_t{1} << (width - 1);
            std::size_t below = 0;
            while (below + 1 < steps && limits[below] < least)
                ++below;
            all[width] = {limits[below], below};
        }
        return all;
    }();
};

/// Sizes: 0, then steps of 16 up to 128, then four steps to each doubling.
class SizeScale {
public:
    static constexpr std::size_t steps = 9 + 4 * 57;

    static constexpr std::size_t step(std::uint64_t size) {
        return size < small.size() ? small[static_cast<std::size_t>(size)] : reckon(size);
    }
    static constexpr std::uint64_t low(std::size_t step) { return step == 0 ? 0 : high(step - 1); }
    static constexpr std::uint64_t high(std::size_t step) {
        if (step <= 8)
            return 16 * step;
        const std::size_t octave = (step - 9) / 4;
        const std::uint64_t quarter = std::uint64_t{32} << octave;
        const std::uint64_t quarters = 5 + (step - 9) % 4;
        return octave == 56 && quarters == 8 ? UINT64_MAX : quarter * quarters;
    }

private:
    static constexpr std::size_t reckon(std::uint64_t size) {
        if (size <= 128)
            return static_cast<std::size_t>((size + 15) / 16);
        const auto width = static_cast<unsigned>(std::bit_width(size - 1));
        return 9 + 4 * std::size_t{width - 8} + (((size - 1) >> (width - 3)) & 3);
    }

    /// The steps of small sizes, which most are.
    static const std::array<std::uint8_t, 4096> small;
};

inline constexpr std::array<std::uint8_t, 4096> SizeScale::small = [] {
    std::array<std::uint8_t, 4096> all{};
    for (std::size_t size = 0; size < all.size(); ++size)
        all[size] = static_cast<std::uint8_t>(SizeScale::reckon(size));
    return all;
}();

} // namespace heapwright::profiler
