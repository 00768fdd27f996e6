// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How long calls took, in ticks: sixteen steps to each doubling, so that a figure read from it is
// right to 6 %; sum and maximum are exact. To count one call takes a dozen instructions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwright::replay {

struct Histogram {
    static constexpr unsigned stepBits = 4;
    static constexpr unsigned mostBits = 40; ///< longer calls count in the last step
    static constexpr std::size_t steps = std::size_t{mostBits - stepBits + 1} << stepBits;

    std::uint64_t sum = 0;
    std::uint64_t most = 0;
    std::uint64_t counts[steps] = {};

    void add(std::uint64_t ticks) {
        sum += ticks;
        most = ticks > most ? ticks : most;
        ++counts[stepOf(ticks)];
    }

    void add(const Histogram& other) {
        sum += other.sum;
        most = other.most > most ? other.most : most;
        for (std::size_t at = 0; at < steps; ++at) {
            counts[at] += other.counts[at];
        }
    }

    std::uint64_t calls() const {
        std::uint64_t all = 0;
        for (const std::uint64_t count : counts) {
            all += count;
        }
        return all;
    }

    /// The ticks that a share of the calls did not exceed; the upper end of their step.
    std::uint64_t quantile(double share) const {
        const auto all = static_cast<double>(calls());
        double seen = 0;
        for (std::size_t at = 0; at < steps; ++at) {
            seen += static_cast<double>(counts[at]);
            if (counts[at] != 0 && seen >= share * all) {
                const std::uint64_t end = upperEnd(at);
                return end < most ? end : most;
            }
        }
        return most;
    }

    static constexpr std::size_t stepOf(std::uint64_t ticks) {
        const auto width = static_cast<unsigned>(std::bit_width(ticks | (1U << stepBits)));
        const unsigned shift = width - stepBits - 1;
        const std::size_t step = (std::size_t{shift} << stepBits) + (ticks >> shift);
        return step < steps ? step : steps - 1;
    }

    /// The largest number of ticks that counts in a step.
    static constexpr std::uint64_t upperEnd(std::size_t step) {
        constexpr std::size_t perDoubling = std::size_t{1} << stepBits;
        const std::size_t shift = step < 2 * perDoubling ? 0 : (step >> stepBits) - 1;
        const std::uint64_t mantissa = step - (shift << stepBits);
        return ((mantissa + 1) << shift) - 1;
    }
};

} // namespace heapwright::replay
