// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One process that is watched. It is held by its folder in /proc, which stays this process's though
// its number may be given to another one. A look costs a few microseconds while the process takes
// and returns no memory; else it costs a walk over its mappings.
#pragma once

#include "smaps.hpp"
#include "system_blocks.hpp"

#include <string>
#include <sys/types.h>

namespace heapwright::recorder::watch {

class Watched {
public:
    Watched(TraceFile& file, std::uint32_t process, pid_t pid);
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    /// Writes one sample; false once there is nothing left to be seen, or no room.
    bool look();

    pid_t pid() const { return pid_; }

private:
    bool readText(const char* name, std::string& text) const;
    bool unchanged();
    bool readMappings();

    TraceFile* file_;
    pid_t pid_;
    int folder_;
    SmapsParser parser_;
    SystemBlocks blocks_;
    trace::SystemSample sample_;
    std::string brief_; ///< the last statm
    std::string text_;
    std::string objects_;
    unsigned skipped_ = 0; ///< looks since the mappings were read
};

} // namespace heapwright::recorder::watch
