// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the importers share: the file's bytes, the trace that comes of them, and what was odd on the
// way. A file of another kind, or one that is cut off, is refused with TraceError and its place. A
// log of mtrace may lack the end of its last line. Unusual events are counted, and the import
// continues. Examples are a free of a block that is not live, and an edge that is missing. Formats
// without a clock get one tick, 100 ns, for each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace heapwright::trace {

class Import {
public:
    static constexpr std::uint64_t tick = 100;            ///< ns
    static constexpr std::uint32_t mostThreads = 1 << 16; ///< each needs memory while it is read

    Import(std::span<const std::byte> bytes, const std::string& to, std::uint32_t flags);

    std::span<const std::byte> bytes;
    TraceWriter writer;

    /// A new thread, or TraceError if there are too many.
    std::uint32_t thread(std::uint64_t offset);
    std::uint64_t step() { return time_ += tick; } ///< the time of the next call
    void odd(const char* what) { ++oddities_[what]; }
    const std::map<std::string, std::uint64_t>& oddities() const { return oddities_; }
    std::uint32_t threads() const { return threads_; }

private:
    std::uint64_t time_ = 0;
    std::uint32_t threads_ = 0;
    std::map<std::string, std::uint64_t> oddities_;
};

/// DJ Delorie's workload files.
void importWl(Import& import);
/// Raw records of the C library's malloc traces.
void importMtrace(Import& import);
/// The text logs of the C library's mtrace().
void importMtraceText(Import& import);
/// Android's text traces.
void importAndroid(Import& import);

} // namespace heapwright::trace
