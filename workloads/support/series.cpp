// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See series.hpp.
#include "series.hpp"

#include "memory.hpp"
#include "text.hpp"

namespace heapwright::workloads {

void Series::start() {
    start_ = residentBytes();
}

void Series::begin() {
    before_ = residentBytes();
}

void Series::sample() {
    if (writing_.test_and_set(std::memory_order_acquire)) {
        return; // another thread is taking this point
    }
    if (count_ == most) {
        for (std::size_t at = 0; at < most / 2; ++at) {
            points_[at] = points_[2 * at + 1];
        }
        count_ = most / 2;
        distance_.store(2 * distance_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    const std::int64_t live = live_.load(std::memory_order_relaxed);
    const std::size_t resident = residentBytes();
    peakResident_ = resident > peakResident_ ? resident : peakResident_;
    points_[count_++] = {operations_.load(std::memory_order_relaxed),
                         live > 0 ? static_cast<std::uint64_t>(live) : 0, resident};
    writing_.clear(std::memory_order_release);
}

void Series::describe(Text& text) const {
    text.key("resident_before").number(std::uint64_t{before_});
    text.key("peak_live").number(peakLive());
    text.key("peak_resident").number(std::uint64_t{peakResident_});
    if (peakLive() > 0 && peakResident_ > start_) {
        text.key("fragmentation")
            .number(static_cast<double>(peakResident_ - start_) / static_cast<double>(peakLive()));
    }
    text.key("memory").open('[');
    for (std::size_t at = 0; at < count_; ++at) {
        text.next().open('[');
        text.next().number(points_[at].operations);
        text.next().number(points_[at].live);
        text.next().number(points_[at].resident);
        text.close(']');
    }
    text.close(']');
}

} // namespace heapwright::workloads
