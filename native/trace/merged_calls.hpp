// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The same events as `MergedEvents` gives with moves in two, in the same order, in runs of calls
// (call.hpp) instead of one by one. A block is decoded many events at a time, and a run goes as far
// as the thread stays ahead of all others, so that what merging costs is for a run and no call. One
// thread of ours may ask for runs while another reads those that it was given.
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
    /// Has to be called with every run, in the order in which they came; by whatever thread.
    void done(const CallRun& run);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace heapwright::trace
