// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Conditions outside the run that affect it. They are the load before it, processor time stolen by
// the hypervisor, and processes that the kernel killed for lack of memory.
#pragma once

#include <cstdint>
#include <string>

namespace heapwright::runner {

class HostConditions {
public:
    /// Opens the files that are read before and after the run. May be called long before the run.
    void prepare();
    /// Reads the state before the run.
    void begin();

    double loadBefore() const { return load_; }
    /// Threads on the run queues of all processors just before the run, without this one.
    long runnableBefore() const { return runnable_; }
    double stealSeconds() const;
    std::int64_t oomKills() const;

private:
    int loadFile_ = -1, statFile_ = -1, eventsFile_ = -1;
    bool prepared_ = false;
    double load_ = 0;
    long runnable_ = 0;
    std::int64_t steal_ = 0;
    std::int64_t oomSystem_ = 0;
    std::int64_t oomGroup_ = 0;
    std::string groupEvents_; ///< memory.events of the control group, "" if there is none
};

} // namespace heapwright::runner
