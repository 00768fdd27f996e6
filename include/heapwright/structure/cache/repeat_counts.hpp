// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts for each of several lists how often in a row it was refilled because it was empty, or
// flushed because it was full. A cache moves more objects at once with each repetition.
//
// A program that only allocates, or only frees, has a streak. A program that alternates at a list's
// limit has none, and moves only the minimum.
// Cost: a byte for each list.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Count>
class RepeatCounts {
public:
    /// The longest streak that is counted.
    static constexpr std::uint32_t most = 7;

    /// Notes a refill. Returns the number of refills since the last flush.
    [[nodiscard]] std::uint32_t fill(std::size_t index) noexcept {
        const int before = std::max<int>(repeats_[index], 0);
        repeats_[index] = static_cast<std::int8_t>(std::min<int>(before + 1, most));
        return static_cast<std::uint32_t>(before);
    }
    /// Notes a flush. Returns the number of flushes since the last refill.
    [[nodiscard]] std::uint32_t empty(std::size_t index) noexcept {
        const int before = std::max<int>(-repeats_[index], 0);
        repeats_[index] = static_cast<std::int8_t>(-std::min<int>(before + 1, most));
        return static_cast<std::uint32_t>(before);
    }

private:
    std::array<std::int8_t, Count> repeats_{}; ///< number of refills; negative: of flushes
};

} // namespace heapwright
