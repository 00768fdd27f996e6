// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The tables of processes and threads of a trace. Processes are found from their records and from
// the blocks that name them. The blocks of a thread are put in order.
#include <algorithm>
#include <cstring>
#include <map>

#include "trace/decoder.hpp"
#include "trace/reader.hpp"

namespace heapwright::trace {

namespace {

/// Takes a text of at most `count` bytes from what is left.
std::string takeText(std::span<const std::byte>& left, std::size_t count) {
    const std::size_t taken = std::min(count, left.size());
    std::string text(taken, '\0');
    if (taken != 0)
        std::memcpy(text.data(), left.data(), taken);
    left = left.subspan(taken);
    return text;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\0', at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

} // namespace

void Trace::readProcess(const Record& record) {
    if (record.type == record::processEnd && record.bytes.size() >= sizeof(ProcessEnd)) {
        ProcessEnd end;
        std::memcpy(&end, record.bytes.data(), sizeof end);
        if (end.process != record.process)
            return addFault(record.offset, "a record speaks of another process");
        processes_[end.process].end = nanoseconds(end.time);
        processes_[end.process].replaced = end.how == 1;
        return;
    }
    if (record.type == record::mark)
        return readMark(record);
    if (record.type != record::processStart)
        return;
    ProcessStart start;
    if (record.bytes.size() < sizeof start)
        return addFault(record.offset, "a process's record is too short");
    std::memcpy(&start, record.bytes.data(), sizeof start);
    if (start.process != record.process)
        return addFault(record.offset, "a record speaks of another process");
    std::span<const std::byte> left = record.bytes.subspan(sizeof start);
    ProcessInfo& process = processes_[start.process];
    process.pid = start.pid;
    process.parentPid = start.parentPid;
    process.cause = static_cast<std::uint32_t>(start.cause) <= 2 ? start.cause : Cause::start;
    process.forkingThread = start.thread;
    process.start = nanoseconds(start.time);
    if (start.parent < processes_.size() && start.parent != start.process)
        process.parent = start.parent;
    process.executable = takeText(left, start.exeLength);
    process.arguments = split(takeText(left, start.argsLength));
}

void Trace::readMark(const Record& record) {
    Mark mark;
    if (record.bytes.size() < sizeof mark)
        return addFault(record.offset, "a mark's record is too short");
    std::memcpy(&mark, record.bytes.data(), sizeof mark);
    std::span<const std::byte> left = record.bytes.subspan(sizeof mark);
    marks_.push_back({record.process, nanoseconds(mark.time), mark.cause,
                      takeText(left, std::min<std::size_t>(mark.length, longestMark))});
}

void Trace::readProcesses() {
    std::uint32_t count = 0;
    for (const BlockInfo& block : blocks_)
        if (block.kind != BlockKind::system) // the launcher's, also where nothing was recorded
            count = std::max(count, block.process + 1);
    processes_.resize(count);
    for (std::uint32_t process = 0; process < count; ++process)
        processes_[process].process = process;
    for (const Record& record : records(BlockKind::process))
        readProcess(record);
    linkProcesses();
    std::stable_sort(marks_.begin(), marks_.end(), [](const MarkInfo& left, const MarkInfo& right) {
        return left.time < right.time;
    });
}

/// Finds parents that were not recorded, in the order of the starts. After exec, the parent is the
/// last process of the same pid; otherwise it is the last process of the parent's pid.
void Trace::linkProcesses() {
    std::vector<std::uint32_t> order(processes_.size());
    for (std::uint32_t process = 0; process < order.size(); ++process)
        order[process] = process;
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t left, std::uint32_t right) {
        return processes_[left].start < processes_[right].start;
    });
    std::map<std::uint32_t, std::uint32_t> last;
    for (const std::uint32_t number : order) {
        ProcessInfo& process = processes_[number];
        if (process.pid == 0)
            continue;
        const auto same = last.find(process.pid);
        const auto parent = last.find(process.parentPid);
        if (process.parent == noProcess && same != last.end()) {
            process.parent = same->second;
            process.cause = Cause::exec;
            processes_[same->second].replaced = true;
        } else if (process.parent == noProcess && parent != last.end()) {
            process.parent = parent->second;
        }
        last[process.pid] = number;
    }
}

void Trace::orderThreads() {
    std::uint32_t count = 0;
    for (const BlockInfo& block : blocks_)
        if (block.kind == BlockKind::events)
            count = std::max(count, block.thread + 1);
    threads_.resize(count);
    for (std::uint32_t index = 0; index < blocks_.size(); ++index)
        if (blocks_[index].kind == BlockKind::events)
            threads_[blocks_[index].thread].blocks.push_back(index);
    for (std::uint32_t thread = 0; thread < count; ++thread) {
        threads_[thread].thread = thread;
        orderThread(threads_[thread]);
    }
}

/// Counts the events of an open block. Its header does not hold the count yet.
void Trace::countOpen(BlockInfo& block) const {
    BlockDecoder decoder;
    decoder.begin(payload(block), block.stackBits, true, block.firstTicks);
    block.lastTicks = block.firstTicks;
    block.events = 0;
    for (Event event; decoder.next(event); ++block.events)
        block.lastTicks = event.time;
}

void Trace::orderThread(ThreadInfo& thread) {
    if (thread.blocks.empty())
        return;
    const auto bySequence = [this](std::uint32_t left, std::uint32_t right) {
        return blocks_[left].sequence < blocks_[right].sequence;
    };
    if (!std::is_sorted(thread.blocks.begin(), thread.blocks.end(), bySequence))
        std::stable_sort(thread.blocks.begin(), thread.blocks.end(), bySequence);
    std::vector<std::uint32_t> kept;
    std::uint32_t expected = 0;
    thread.process = blocks_[thread.blocks.front()].process;
    for (const std::uint32_t index : thread.blocks) {
        BlockInfo& block = blocks_[index];
        const std::string who = " of thread " + std::to_string(thread.thread);
        if (block.sequence < expected || block.process != thread.process) {
            addFault(block.offset, "a second block with a number" + who + " is left out");
            continue;
        }
        if (block.sequence > expected)
            addFault(block.offset,
                     std::to_string(block.sequence - expected) + " blocks" + who + " are missing");
        expected = block.sequence + 1;
        kept.push_back(index);
        if (!block.sealed)
            countOpen(block);
        thread.events += block.events;
        thread.lost += block.lost;
        thread.backwards += block.backwards;
    }
    thread.blocks = std::move(kept);
    const BlockInfo& last = blocks_[thread.blocks.back()];
    thread.threadId = blocks_[thread.blocks.front()].threadId;
    thread.firstTime = nanoseconds(blocks_[thread.blocks.front()].firstTicks);
    thread.lastTime = nanoseconds(std::max(last.lastTicks, last.firstTicks));
    thread.ended = last.ended;
    events_ += thread.events;
}

} // namespace heapwright::trace
