// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Divides the recorded calls into windows, for the bounded order. Threads may carry out the calls
// of some neighbouring windows in any order; windows before those are complete. The live bytes then
// differ from the recorded ones by a bounded amount. The bound is the sum over threads of the range
// of allocated less freed bytes within these windows. That sum never exceeds the bound. A call that
// moves more than the bound on its own has a window of its own, and no thread passes it.
#pragma once

#include "replayer/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace heapwright::replayer {

class Windows {
public:
    /// The least bound in bytes: smaller heaps are a few pages.
    static constexpr std::uint64_t leastBound = std::uint64_t{32} << 10;

    static std::uint64_t boundFor(std::uint64_t peakBytes) {
        return peakBytes / 16 > leastBound ? peakBytes / 16 : leastBound;
    }

    Windows(std::size_t threads, std::uint64_t bound)
        : bound_(bound), grain_(bound / 4), balances_(threads) {}

    /// Places the next call, which frees and then allocates the given bytes.
    Entry place(std::size_t thread, std::uint64_t freed, std::uint64_t allocated);

    std::uint32_t current() const { return entry_.window; }

private:
    /// Of one thread, within one window.
    struct Balance {
        std::uint32_t window = endOfWindows;
        std::int64_t bytes = 0;
        std::int64_t low = 0;
        std::int64_t high = 0;

        std::uint64_t range() const { return static_cast<std::uint64_t>(high - low); }
    };

    static Balance after(Balance balance, std::uint64_t freed, std::uint64_t allocated);
    void open(std::uint64_t first);

    std::uint64_t bound_;
    std::uint64_t grain_; ///< a window of several calls moves at most this number of bytes
    std::vector<Balance> balances_;
    std::deque<std::uint64_t> before_; ///< bytes of the windows before, as far as they matter
    std::uint64_t bytes_ = 0;          ///< of the current window
    bool empty_ = true;
    Entry entry_;
};

} // namespace heapwright::replayer
