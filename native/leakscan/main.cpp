// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-leakscan [--stop | --thread TID] TRACE PID: reports the blocks of the trace that the
// process can still reach. Prints one JSON object and exits with 0. On failure it writes a line to
// standard error and exits with 1. Pre: the process is stopped or waits, or the option --stop is
// given. With it, the program stops the process and lets it continue afterwards. The memory is read
// through the thread that --thread names, because the first thread may have ended.
#include "blocks.hpp"
#include "kept.hpp"
#include "memory.hpp"
#include "search.hpp"
#include "stopped.hpp"

#include "trace/stack_table.hpp"

#include <heapwright/core/json.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>

namespace {

using namespace heapwright;
using namespace heapwright::leakscan;

struct Sum {
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t first = ~std::uint64_t{0}; ///< ns: allocation time of the first of them
    std::uint64_t last = 0;

    void add(const Block& block) {
        ++blocks;
        bytes += block.size;
        first = std::min(first, block.born);
        last = std::max(last, block.born);
    }
};

void print(const trace::StackTable& stacks, std::uint32_t process, const LiveBlocks& live) {
    Sum all;
    Sum lost;
    std::map<std::uint32_t, Sum> byStack;
    for (const Block& block : live.blocks()) {
        if (block.inherited) {
            continue; // the parent frees it
        }
        all.add(block);
        if (!block.reached) {
            lost.add(block);
            byStack[stacks.firstAlike(process, block.stack)].add(block);
        }
    }
    Json json;
    json.beginObject().field("process", process).field("blocks", all.blocks);
    json.field("bytes", all.bytes).field("unreachable_blocks", lost.blocks);
    json.field("unreachable_bytes", lost.bytes).key("stacks").beginArray();
    for (const auto& [stack, sum] : byStack) {
        json.beginArray().value(stack).value(sum.blocks).value(sum.bytes);
        json.seconds(sum.first).seconds(sum.last).endArray();
    }
    json.endArray().endObject();
    std::puts(json.text().c_str());
}

int look(const char* path, std::uint32_t pid, std::uint32_t thread, bool stop) {
    std::optional<Stopped> stopped;
    if (stop) {
        stopped.emplace(static_cast<pid_t>(pid));
    }
    const trace::Trace trace(path); // read after the process has stopped writing it
    const std::optional<std::uint32_t> process = processOf(trace, pid);
    if (!process) {
        std::fprintf(stderr, "heapwright-leakscan: process %" PRIu32 " is not in the trace\n", pid);
        return 1;
    }
    ProcessMemory memory(static_cast<pid_t>(thread));
    const std::vector<Range> recorders = recorderRanges(trace, *process);
    std::for_each(recorders.begin(), recorders.end(),
                  [&memory](const Range& range) { memory.leaveOut(range); });
    LiveBlocks live(trace, *process);
    std::vector<std::uint64_t> words = memory.ofKernel();
    if (stopped) {
        const std::vector<std::uint64_t> registers = stopped->registers();
        words.insert(words.end(), registers.begin(), registers.end());
    }
    search(memory, words, live);
    if (!stop) { // it waits at its end
        searchTeardown(memory, live, keptBlocks(memory, recorders));
    }
    print(trace::StackTable(trace), *process, live);
    return 0;
}

} // namespace

int main(int count, char** arguments) {
    const bool stop = count == 4 && std::strcmp(arguments[1], "--stop") == 0;
    const bool named = count == 5 && std::strcmp(arguments[1], "--thread") == 0;
    if (count != 3 && !stop && !named) {
        std::fprintf(stderr, "usage: heapwright-leakscan [--stop | --thread TID] TRACE PID\n");
        return 2;
    }
    try {
        const auto pid = static_cast<std::uint32_t>(std::atoi(arguments[count - 1]));
        const auto thread = named ? static_cast<std::uint32_t>(std::atoi(arguments[2])) : pid;
        return look(arguments[count - 2], pid, thread, stop);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "heapwright-leakscan: %s\n", error.what());
        return 1;
    }
}
