// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is live and what is resident, over the operations of a run: a few hundred points, however
// long the run. When there is no room for more, every second point goes and the distance doubles.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

class Text;

class Series {
public:
    /// An operation that changed the live bytes by so many. Thread-safe.
    void changed(std::int64_t bytes) {
        const std::int64_t live = live_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        std::int64_t peak = peak_.load(std::memory_order_relaxed);
        while (live > peak && !peak_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
        }
        const std::uint64_t number = operations_.fetch_add(1, std::memory_order_relaxed) + 1;
        if (number % distance_.load(std::memory_order_relaxed) == 0) {
            sample();
        }
    }

    /// A point now, whatever the distance: the end of a phase.
    void sample();

    /// Before the program allocates anything: what is resident now is no allocator's doing.
    void start();

    /// Threads are about to go: what is resident now was so before their first operation.
    void begin();

    std::uint64_t peakLive() const {
        return static_cast<std::uint64_t>(peak_.load(std::memory_order_relaxed));
    }

    /// Adds the keys of the result that a series has.
    void describe(Text& text) const;

private:
    struct Point {
        std::uint64_t operations, live, resident;
    };
    static constexpr std::size_t most = 512;

    std::atomic<std::int64_t> live_{0};
    std::atomic<std::int64_t> peak_{0};
    std::atomic<std::uint64_t> operations_{0};
    std::atomic<std::uint64_t> distance_{64};
    std::atomic_flag writing_ = ATOMIC_FLAG_INIT; ///< one thread at a time takes a point
    Point points_[most] = {};
    std::size_t count_ = 0;
    std::size_t start_ = 0;
    std::size_t before_ = 0;
    std::size_t peakResident_ = 0;
};

} // namespace heapwright::workloads
