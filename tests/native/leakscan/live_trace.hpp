// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A program of one process and one thread, described call by call. Then its live blocks.
#pragma once

#include "../trace/trace_file.hpp"
#include "leakscan/blocks.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace heapwright::leakscan {

inline trace::ProcessText processOfNumber(std::uint32_t pid,
                                          trace::Cause cause = trace::Cause::start) {
    trace::ProcessText process;
    process.pid = pid;
    process.cause = cause;
    return process;
}

class LiveTrace {
public:
    LiveTrace() : writer_(file_.path()) {
        writer_.process(processOfNumber(77));
        thread_ = writer_.thread(0);
    }

    LiveTrace& malloc(std::uint64_t address, std::uint64_t size, std::uint64_t usable = 0) {
        return add(trace::Routine::malloc, 0, address, size, usable == 0 ? size : usable);
    }
    LiveTrace& free(std::uint64_t address) { return add(trace::Routine::free, 0, address, 0, 0); }
    LiveTrace& realloc(std::uint64_t old, std::uint64_t address, std::uint64_t size) {
        return add(trace::Routine::realloc, old, address, size, size);
    }

    LiveBlocks live() {
        writer_.close();
        return LiveBlocks(trace::Trace(file_.path()), 0);
    }

private:
    LiveTrace& add(trace::Routine routine, std::uint64_t old, std::uint64_t address,
                   std::uint64_t size, std::uint64_t usable) {
        trace::Event event;
        event.routine = routine;
        event.thread = thread_;
        event.time = event.began = time_ += 100;
        event.old = old;
        event.address = address;
        event.size = size;
        event.usable = usable;
        writer_.add(event);
        return *this;
    }

    trace::TraceFile file_;
    trace::TraceWriter writer_;
    std::uint32_t thread_ = 0;
    std::uint64_t time_ = 0;
};

} // namespace heapwright::leakscan
