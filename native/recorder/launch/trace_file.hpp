// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The trace as its launcher uses it. It is made with its header before the command starts, switched
// while the command runs, and closed and cut to its length at the end. The words that change are in
// the header page, which all recorded processes map.
#pragma once

#include "options.hpp"
#include "trace/layout.hpp"

#include <cstdint>
#include <string>

namespace heapwright::recorder::launch {

class NewTrace {
public:
    /// Makes the file, or empties the one that is there; throws std::system_error.
    explicit NewTrace(const Options& options);
    ~NewTrace();
    NewTrace(const NewTrace&) = delete;
    NewTrace& operator=(const NewTrace&) = delete;

    void setRecording(bool on);
    void toggle();

    /// Ends the writing: corrects the clock's rate by the whole run. `alone`: no process has the
    /// file open, so it is cut to its length, and its open blocks get their checksums.
    void close(bool alone);

    /// Adds a sealed block of the accounts at the end of the run. Room for it is reserved even in a
    /// trace that has reached its limit. Adds nothing if the disk has no room.
    void addAccounts(const trace::BlockHeader& block);

    std::uint64_t ticks() const; ///< since the trace began
    const trace::FileHeader& header() const { return *header_; }
    double seconds() const; ///< since it was made

private:
    void seal() const;

    std::string path_;
    trace::FileHeader* header_ = nullptr;
    int file_ = -1;
    std::uint64_t limit_;          ///< bytes; 0 = none
    std::uint64_t beganTicks_ = 0; ///< not shifted
    std::uint64_t beganNs_ = 0;    ///< of CLOCK_MONOTONIC
};

} // namespace heapwright::recorder::launch
