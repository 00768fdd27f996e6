// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How long blocks were kept: all together, and by size. A block's retention runs from its
// allocation's return to the entry of what ended it; what never ended counts as long.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "profiler/json.hpp"
#include "profiler/scales.hpp"

namespace heapwright::profiler {

constexpr std::uint64_t shortRetention = 100'000'000;    ///< ns, the limit included
constexpr std::uint64_t mediumRetention = 1'000'000'000; ///< ns, the limit included

/// The life of a block, when it is over or when the trace is.
struct Life {
    std::uint64_t size;
    std::uint64_t nanoseconds;
    std::uint64_t operations;
    bool ended;      ///< else it was never freed
    bool handedOver; ///< ended by another thread than the one that allocated it

    bool isLong() const { return !ended || nanoseconds > mediumRetention; }
};

class Retention {
public:
    Retention() : sizes_(std::make_unique<BySize>()) {}

    void add(const Life& life);
    /// The same of a life that ended within mediumRetention, by at least one operation and less
    /// than 2^52. The thread that began it must have ended it.
    void addQuick(std::uint64_t size, std::uint64_t nanoseconds, std::uint64_t operations) {
        SizeLifetimes& lives = (*sizes_)[SizeScale::step(size)];
        const std::size_t step = TimeScale::quickStep(nanoseconds);
        lives.bytes += size;
        ++lives.times[step];
        ++lives.operations[static_cast<std::size_t>(quickWidth(2 * operations - 1) - 1)];
        bytes_[step] += size;
    }
    /// Lives that ended within shortRetention.
    std::uint64_t shortLived() const;

    void write(Json& json, std::uint64_t allocations) const;
    void writeBySize(Json& json) const;

private:
    /// Step 0 is [0, 1], each further one (2^(n-1), 2^n].
    static constexpr std::size_t operationSteps = 65;

    static std::size_t operationStep(std::uint64_t operations) {
        return static_cast<std::size_t>(std::bit_width(operations - (operations != 0 ? 1 : 0)));
    }

    /// How many they are is the sum of those that were never freed and those that ended.
    struct SizeLifetimes {
        std::uint64_t bytes = 0;
        std::uint64_t neverFreed = 0;
        std::uint64_t handedOver = 0;
        std::array<std::uint64_t, TimeScale::steps> times{};
        std::array<std::uint64_t, operationSteps> operations{};
    };
    using BySize = std::array<SizeLifetimes, SizeScale::steps>;

    /// Ended lives by their length, of all sizes.
    std::array<std::uint64_t, TimeScale::steps> counts() const;

    std::uint64_t neverFreed_ = 0;
    std::array<std::uint64_t, TimeScale::steps> bytes_{};
    std::unique_ptr<BySize> sizes_;
};

} // namespace heapwright::profiler
