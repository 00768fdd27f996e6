// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples from outside what memory the system gives to the processes of a trace, and adds it to the
// trace. It has no thread and no clock: the launcher calls `tick` from its waiting loop. Samples
// are taken every millisecond at first, every 10 ms after half a second, then two thousand times
// for each twentyfold of the run's length. All together may use half a per cent of one processor in
// the long run. If that is not enough, samples become rarer.
#pragma once

#include "watched.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace heapwright::recorder::watch {

class Watcher {
public:
    /// The trace's header must be there. False: this trace cannot be watched; `tick` is harmless.
    bool open(const char* path);

    /// Looks at what is due. Returns the nanoseconds until it wants to be called again.
    std::uint64_t tick();

    /// Seals what was written. Before the trace is cut to its length.
    void close();

private:
    void adopt();
    std::uint64_t pause(std::uint64_t now) const;

    TraceFile file_;
    bool open_ = false;
    std::vector<std::unique_ptr<Watched>> watched_;
    std::vector<Started> found_;
    std::uint64_t began_ = 0; ///< ns of the monotonic clock, as all that follow
    std::uint64_t due_ = 0;
    std::uint64_t spent_ = 0; ///< CPU time of all looks
    std::uint64_t last_ = 0;  ///< of the last one
};

} // namespace heapwright::recorder::watch
