// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a trace. Reading ends, with events in order or with a refusal whose offset is in the
// file, and in little memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "trace/reader.hpp"

namespace {

using namespace heapwright::trace;

void demand(bool holds) {
    if (!holds)
        std::abort();
}

void drain(const Trace& trace, std::size_t size) {
    MergedEvents events(trace, {.splitMoves = true});
    std::uint64_t last = 0;
    std::uint64_t count = 0;
    for (Event event; events.next(event); ++count) {
        demand(event.time >= last && event.thread < trace.threads().size());
        last = event.time;
    }
    // An event has two bytes at least, and a moved realloc is reported twice.
    demand(count <= size);
    for (const BlockKind kind : {BlockKind::modules, BlockKind::stacks, BlockKind::system})
        for (const Record& record : trace.records(kind))
            demand(record.offset + record.bytes.size() <= size);
    demand(trace.threads().size() <= size && trace.processes().size() <= size);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
    try {
        drain(Trace(bytes), size);
    } catch (const TraceError& error) {
        demand(error.offset <= size);
    }
    return 0;
}
