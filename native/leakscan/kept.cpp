// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "kept.hpp"

#include "hold/kept.h"

#include <cstring>

namespace heapwright::leakscan {

std::vector<Range> recorderRanges(const trace::Trace& trace, std::uint32_t process) {
    const std::vector<trace::ProcessInfo>& processes = trace.processes();
    const std::vector<trace::Record> records = trace.records(trace::BlockKind::process);
    std::vector<Range> ranges;
    for (std::size_t left = processes.size(); left != 0 && process < processes.size(); --left) {
        for (const trace::Record& record : records) {
            trace::RecorderMemory memory;
            if (record.process == process && record.type == trace::record::recorderMemory &&
                record.bytes.size() >= sizeof memory) {
                std::memcpy(&memory, record.bytes.data(), sizeof memory);
                ranges.push_back({memory.begin, memory.end});
            }
        }
        const trace::ProcessInfo& info = processes[process]; // a forked one has its parent's
        process = info.cause == trace::Cause::fork ? info.parent : trace::noProcess;
    }
    return ranges;
}

Kept keptBlocks(const Memory& memory, const std::vector<Range>& ranges) {
    constexpr std::size_t words = sizeof(KeptTable) / sizeof(std::uint64_t);
    Kept kept;
    for (const Range& range : ranges) {
        KeptTable table;
        std::uint64_t read[words] = {};
        if (memory.read(range.begin, read, words) != words) {
            continue;
        }
        std::memcpy(&table, read, sizeof table);
        if (table.magic != HEAPWRIGHT_KEPT_MAGIC) {
            continue;
        }
        for (std::uint64_t at = 0; at < ::keptBlocks; ++at) { // the oldest first
            const KeptBlock& block = table.blocks[(table.next + at) % ::keptBlocks];
            if (block.object != 0) {
                kept[block.object] = block.copy;
            }
        }
    }
    return kept;
}

} // namespace heapwright::leakscan
