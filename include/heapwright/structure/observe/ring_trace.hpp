// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the latest records of a trace in memory, for tests and for a debugger.
// Invariant: record `n`, counted from 0, is at `n % Count`.
// Cost: a copy of 48 bytes.
#pragma once

#include <heapwright/structure/observe/trace_record.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Count>
class RingTrace {
    static_assert(Count > 0);

public:
    constexpr RingTrace() noexcept = default;

    void write(const TraceRecord& record) noexcept { records_[written_++ % Count] = record; }
    void flush() noexcept {}
    void forked() noexcept {}

    /// The total number of records.
    [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
    /// The number of records still in the ring.
    [[nodiscard]] std::size_t kept() const noexcept { return written_ < Count ? written_ : Count; }
    /// A record in the ring, from the newest.
    /// Pre: `back` < `kept()`.
    [[nodiscard]] const TraceRecord& latest(std::size_t back = 0) const noexcept {
        return records_[(written_ - 1 - back) % Count];
    }

private:
    std::array<TraceRecord, Count> records_{};
    std::uint64_t written_ = 0;
};

} // namespace heapwright
