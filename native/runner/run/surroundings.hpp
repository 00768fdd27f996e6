// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the machine did to the run from outside: load before it, processor time stolen by the host
// during it, processes that the kernel killed for memory.
#pragma once

#include <cstdint>
#include <string>

namespace heapwright::runner {

class Surroundings {
public:
    /// Looks at the machine before the run.
    /// What can be done long before: opens what is read at both ends.
    void prepare();
    void begin();

    double loadBefore() const { return load_; }
    double stealSeconds() const;
    std::int64_t oomKills() const;

private:
    int loadFile_ = -1, statFile_ = -1, eventsFile_ = -1;
    bool prepared_ = false;
    double load_ = 0;
    std::int64_t steal_ = 0;
    std::int64_t oomSystem_ = 0;
    std::int64_t oomGroup_ = 0;
    std::string groupEvents_; ///< memory.events of the control group, "" if there is none
};

} // namespace heapwright::runner
