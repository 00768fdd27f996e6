// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See stack_table.hpp and the structs of stacks.hpp.
#include "trace/stack_table.hpp"

#include <algorithm>
#include <cstring>

namespace heapwright::trace {

namespace {

template <class T>
T read(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

std::string inHexadecimal(const std::byte* bytes, std::size_t count) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        const auto byte = std::to_integer<unsigned>(bytes[i]);
        text.push_back(digits[byte >> 4U]);
        text.push_back(digits[byte & 15U]);
    }
    return text;
}

} // namespace

StackTable::StackTable(const Trace& trace) {
    processes_.resize(trace.processes().size());
    for (const ProcessInfo& info : trace.processes()) {
        if (info.cause == Cause::fork && info.parent < info.process &&
            info.process < processes_.size())
            processes_[info.process].inherits = info.parent;
    }
    for (const Record& record : trace.stacks())
        takeNodes(record);
    for (const Record& record : trace.modules())
        takeModule(trace, record);
    for (Process& process : processes_)
        std::sort(process.runs.begin(), process.runs.end(),
                  [](const Run& a, const Run& b) { return a.first < b.first; });
}

void StackTable::takeNodes(const Record& record) {
    if (record.type != record::stackNodes || record.process >= processes_.size() ||
        record.bytes.size() < sizeof(StackNodes))
        return;
    const auto nodes = read<StackNodes>(record.bytes.data());
    const std::size_t room = (record.bytes.size() - sizeof nodes) / sizeof(StackNode);
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(nodes.count, room));
    processes_[record.process].runs.push_back(
        {nodes.first, count, record.bytes.data() + sizeof nodes, record.time});
}

void StackTable::takeModule(const Trace& trace, const Record& record) {
    if (record.type != record::moduleLoaded || record.process >= processes_.size() ||
        record.bytes.size() < sizeof(ModuleLoaded))
        return;
    const auto loaded = read<ModuleLoaded>(record.bytes.data());
    const std::size_t room = record.bytes.size() - sizeof loaded;
    if (loaded.buildIdLength > room || loaded.pathLength > room - loaded.buildIdLength)
        return;
    const std::byte* const id = record.bytes.data() + sizeof loaded;
    const auto* const path = reinterpret_cast<const char*>(id + loaded.buildIdLength);
    const std::uint32_t object = objectNumber(
        {std::string(path, loaded.pathLength), inHexadecimal(id, loaded.buildIdLength)});
    const std::uint64_t unloaded = loaded.unloaded != 0 ? trace.nanoseconds(loaded.unloaded) : 0;
    processes_[record.process].modules.push_back(
        {loaded.begin, loaded.end, loaded.bias, trace.nanoseconds(loaded.seen), unloaded, object});
}

std::uint32_t StackTable::objectNumber(Object object) {
    const auto same = [&object](const Object& other) {
        return other.path == object.path && other.buildId == object.buildId;
    };
    const auto found = std::find_if(objects_.begin(), objects_.end(), same);
    const auto number = static_cast<std::uint32_t>(found - objects_.begin());
    if (found == objects_.end())
        objects_.push_back(std::move(object));
    return number;
}

/// The run that a node stands in: the process's own, or one of those that it was forked with.
const StackTable::Run* StackTable::runOf(std::uint32_t process, std::uint32_t node) const {
    while (process < processes_.size()) {
        const std::vector<Run>& runs = processes_[process].runs;
        const auto after = std::upper_bound(
            runs.begin(), runs.end(), node,
            [](std::uint32_t number, const Run& run) { return number < run.first; });
        if (after != runs.begin()) {
            const Run& run = *(after - 1);
            return node - run.first < run.count ? &run : nullptr;
        }
        process = processes_[process].inherits;
    }
    return nullptr;
}

bool StackTable::find(std::uint32_t process, std::uint32_t node, Call& call) const {
    const Run* const run = runOf(process, node);
    if (run == nullptr)
        return false;
    const auto stands =
        read<StackNode>(run->nodes + std::size_t{node - run->first} * sizeof(StackNode));
    if (stands.written == 0 || stands.parent >= node)
        return false;
    const std::uint64_t address = stands.addressLow | static_cast<std::uint64_t>(stands.addressHigh)
                                                          << 32U;
    call.parent = stands.parent;
    call.cut = address == cutAddress;
    call.place = call.cut ? Place{} : placeOf(process, address - 1, run->time);
    return true;
}

/// Where an address lay when nodes were begun: of several objects that were there one after the
/// other, the first that was still loaded then.
StackTable::Place StackTable::placeOf(std::uint32_t process, std::uint64_t address,
                                      std::uint64_t time) const {
    const Module* found = nullptr;
    while (found == nullptr && process < processes_.size()) {
        for (const Module& module : processes_[process].modules) {
            if (address - module.begin < module.end - module.begin &&
                (module.unloaded == 0 || module.unloaded > time) &&
                (found == nullptr || module.seen < found->seen))
                found = &module;
        }
        process = processes_[process].inherits;
    }
    return found != nullptr ? Place{found->object, address - found->bias}
                            : Place{noObject, address};
}

} // namespace heapwright::trace
