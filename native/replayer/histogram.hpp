// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The duration of calls, in ticks. There are sixteen steps to each doubling, so that a figure read
// from it is right to 6 %. Sum and maximum are exact. To count one call takes a dozen instructions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwright::replayer {

template <class Count>
struct HistogramOf {
    static constexpr unsigned stepBits = 4;
    static constexpr std::size_t steps = std::size_t{64 - stepBits + 1} << stepBits;

    std::uint64_t sum = 0;
    std::uint64_t most = 0;
    Count counts[steps] = {};

    void add(std::uint64_t ticks) {
        sum += ticks;
        if (ticks > most) [[unlikely]] {
            most = ticks;
        }
        ++counts[stepOf(ticks)];
    }

    template <class Other>
    void add(const HistogramOf<Other>& other) {
        sum += other.sum;
        most = other.most > most ? other.most : most;
        for (std::size_t at = 0; at < steps; ++at) {
            counts[at] += other.counts[at];
        }
    }

    std::uint64_t calls() const {
        std::uint64_t all = 0;
        for (const Count count : counts) {
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

    /// Below 2^60 ticks, which are years, the step contains the number. A larger one, as of a clock
    /// that went back, counts in a lower step.
    static constexpr std::size_t stepOf(std::uint64_t ticks) {
        constexpr std::uint64_t first = 1U << stepBits;
        const auto top = 63U - static_cast<unsigned>(std::countl_zero(ticks | first));
        const auto within = static_cast<unsigned>(ticks << stepBits >> top);
        return (top << stepBits) + within - (stepBits << stepBits);
    }

    /// The largest number of ticks that counts in a step.
    static constexpr std::uint64_t upperEnd(std::size_t step) {
        constexpr std::size_t perDoubling = std::size_t{1} << stepBits;
        const std::size_t shift = step < 2 * perDoubling ? 0 : (step >> stepBits) - 1;
        const std::uint64_t mantissa = step - (shift << stepBits);
        return ((mantissa + 1) << shift) - 1;
    }
};

using Histogram = HistogramOf<std::uint32_t>; ///< of one thread: at most 2^32 calls
using AllHistogram = HistogramOf<std::uint64_t>;

} // namespace heapwright::replayer
