// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the system says of one process's memory, read from /proc/PID/smaps: each writable mapping
// with what of it is resident, and sums of the rest. The pages of the trace and of the recorder's
// libraries, which are resident only because the process is recorded, are kept apart. Reading costs
// the kernel a walk over the page tables, so how often it is done is for the caller to ration.
#pragma once

#include "trace/system.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace heapwright::recorder::watch {

/// Reads the text of an smaps file. What is not understood is left out, never invented.
class SmapsParser {
public:
    /// `traceDevice` and `traceFile` are how smaps names the trace ("fe:00" and the inode).
    SmapsParser(std::string_view traceDevice, std::uint64_t traceFile)
        : traceDevice_(traceDevice), traceFile_(traceFile) {}

    /// Fills all of the sample but its time and its process.
    void parse(std::string_view text, trace::SystemSample& sample);

    /// The files mapped with code in them, one a line, in the order of their addresses.
    const std::string& objects() const { return objects_; }

private:
    enum class Kind : std::uint8_t { writable, fixed, stack, trace };

    void begin(std::string_view line, trace::SystemSample& sample);
    void field(std::string_view line, trace::SystemSample& sample);

    std::string traceDevice_;
    std::uint64_t traceFile_;
    std::string objects_;
    Kind kind_ = Kind::fixed;
};

} // namespace heapwright::recorder::watch
