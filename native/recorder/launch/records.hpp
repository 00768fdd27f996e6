// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Records that the launcher adds at the end of the run. They are in system blocks that name process
// 0. Each block is built in memory before it is added to the trace.
#pragma once

#include "trace/blocks.hpp"
#include "trace_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace heapwright::recorder::launch {

class Records {
public:
    static constexpr std::size_t large = 64 << 10; ///< bytes of the largest block

    /// `expected`: bytes of all records, roughly.
    Records(NewTrace& trace, std::size_t expected) : trace_(trace) {
        while (shift_ < mostShift && (trace::pageSize << shift_) < expected) {
            ++shift_;
        }
        memory_ = std::make_unique<std::byte[]>(trace::pageSize << shift_);
        begin();
    }

    template <class... Pieces>
    void append(std::uint16_t type, const Pieces&... pieces) {
        if (!trace::appendRecord(*header_, type, pieces...)) {
            finish();
            begin();
            trace::appendRecord(*header_, type, pieces...);
        }
    }

    void finish() {
        trace::sealRecords(*header_, header_->firstTime);
        trace_.addAccounts(*header_);
    }

private:
    static constexpr unsigned mostShift = 4; ///< blocks of 64 KiB at most

    void begin() {
        std::memset(memory_.get(), 0, trace::pageSize << shift_);
        header_ = trace::beginRecords(memory_.get(), trace::BlockKind::system, shift_, 0,
                                      sequence_++, trace_.ticks());
    }

    NewTrace& trace_;
    unsigned shift_ = 0;
    std::unique_ptr<std::byte[]> memory_;
    trace::BlockHeader* header_ = nullptr;
    std::uint32_t sequence_ = 0;
};

} // namespace heapwright::recorder::launch
