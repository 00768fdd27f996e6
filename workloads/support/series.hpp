// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Live and resident bytes over the operations of a run: a few hundred points for a run of any
// length. When the series is full, every second point is dropped and the distance doubles.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

class Text;

class Series {
public:
    /// Records an operation that changed the live bytes by `bytes`. Thread-safe.
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

    /// Takes a point now, at any distance: at the end of a phase.
    void sample();

    /// Called before the program allocates: the present resident bytes are not the allocator's.
    void start();

    /// Called before the threads start: the present resident bytes are those before their first
    /// operation.
    void begin();

    std::uint64_t peakLive() const {
        return static_cast<std::uint64_t>(peak_.load(std::memory_order_relaxed));
    }

    /// Adds the series' keys to the result.
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
    std::atomic_flag writing_ = ATOMIC_FLAG_INIT; ///< held by the thread that takes a point
    Point points_[most] = {};
    std::size_t count_ = 0;
    std::size_t start_ = 0;
    std::size_t before_ = 0;
    std::size_t peakResident_ = 0;
};

} // namespace heapwright::workloads
