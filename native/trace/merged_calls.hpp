// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The events of `MergedEvents` with moves split in two, in the same order, in runs of calls
// (call.hpp) instead of one by one. A block is decoded many events at a time, and a run lasts as
// long as its thread leads. Merging thus costs per run, not per call. One thread may request runs
// while another reads earlier ones.
#pragma once

#include <cstdint>
#include <memory>

#include "trace/call.hpp"
#include "trace/reader.hpp"

namespace heapwright::trace {

class MergedCalls {
public:
    explicit MergedCalls(const Trace& trace, std::uint32_t process = Selection::all);
    ~MergedCalls();
    MergedCalls(const MergedCalls&) = delete;
    MergedCalls& operator=(const MergedCalls&) = delete;

    /// The next run. It may be read until `done` is called with it.
    bool next(CallRun& run);
    /// Pre: called with every run, in the order of the runs; from any thread.
    void done(const CallRun& run);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace heapwright::trace
