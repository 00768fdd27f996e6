// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of heapwright-record.
#pragma once

#include <cstdint>
#include <optional>

namespace heapwright::recorder::launch {

struct Options {
    const char* trace = nullptr;
    const char* preload = nullptr; ///< LD_PRELOAD for the command, the recorder first
    int resultFd = -1;
    std::uint64_t sample = 0; ///< one block in this number is recorded; 0 = all
    std::uint64_t salt = 0;
    std::uint64_t limit = 0;       ///< bytes of the file; 0 = none
    const char* witness = nullptr; ///< file for the reports of the processes; null = none
    const char* settings = ""; ///< lines for the trace: the settings that select a runtime's heap
    const char* control = nullptr; ///< the file that turns recording on and off
    int toggleSignal = 0;          ///< in the recorded processes; 0 = none
    int markSignal = 0;            ///< the same
    bool stacks = false;
    bool follow = false;
    bool paused = false;
    bool bound = false; ///< end with the command when the reader of the result is gone
    bool watch = true;  ///< the system's view of memory is recorded, too
    char** command = nullptr;
};

/// Nothing, and a line on standard error that says why, when the command line is wrong.
std::optional<Options> parseOptions(int count, char** arguments);

} // namespace heapwright::recorder::launch
