// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See stack_table.hpp and the structs of stacks.hpp.
#include "trace/stack_table.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <tuple>

#include "trace/stack_nodes.hpp"

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

/// A name by V8 without the letter for the compiler that made the code. A function that was
/// compiled again is then one function.
std::string withoutTier(std::string name) {
    constexpr std::string_view kind = "JS:";
    constexpr std::string_view tiers = "~^+*";
    if (name.starts_with(kind) && name.size() > kind.size() &&
        tiers.find(name[kind.size()]) != std::string_view::npos)
        name.erase(kind.size(), 1);
    return name;
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
    for (const Record& record : trace.modules()) {
        takeModule(trace, record);
        takeCode(record);
    }
    for (const Record& record : trace.system())
        takeCompiled(record);
    for (Process& process : processes_) {
        std::sort(process.nodes.begin(), process.nodes.end(),
                  [](const Node& a, const Node& b) { return a.number < b.number; });
        std::sort(process.codes.begin(), process.codes.end(),
                  [](const Code& a, const Code& b) { return a.begin < b.begin; });
    }
    for (std::uint32_t process = 0; process < processes_.size(); ++process) {
        if (loadsAgain(process))
            findAlike(process);
    }
}

void StackTable::takeNodes(const Record& record) {
    if (record.type != record::stackNodes || record.process >= processes_.size() ||
        record.bytes.size() < sizeof(StackNodes))
        return;
    Process& process = processes_[record.process];
    const auto block = static_cast<std::uint32_t>(process.times.size());
    process.times.push_back(record.time);
    NodeReader reader(record.bytes);
    for (StackNode node{}; reader.next(node);)
        process.nodes.push_back({node.number, node.parent, static_cast<std::uint32_t>(node.address),
                                 static_cast<std::uint32_t>(node.address >> 32), block});
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
        {std::string(path, loaded.pathLength), inHexadecimal(id, loaded.buildIdLength), {}});
    const std::uint64_t unloaded = loaded.unloaded != 0 ? trace.nanoseconds(loaded.unloaded) : 0;
    processes_[record.process].modules.push_back(
        {loaded.begin, loaded.end, loaded.bias, trace.nanoseconds(loaded.seen), unloaded, object});
}

/// A function of an interpreter: its numbers, and what they stand for.
void StackTable::takeCode(const Record& record) {
    if (record.type != record::interpretedCode || record.process >= processes_.size() ||
        record.bytes.size() < sizeof(InterpretedCode))
        return;
    const auto code = read<InterpretedCode>(record.bytes.data());
    const std::size_t room = record.bytes.size() - sizeof code;
    if (code.begin < firstInterpreted || code.end <= code.begin ||
        std::uint64_t{code.nameLength} + code.fileLength + code.tableLength > room)
        return;
    const auto* const name =
        reinterpret_cast<const char*>(record.bytes.data() + sizeof(InterpretedCode));
    const char* const file = name + code.nameLength;
    const char* const table = file + code.fileLength;
    const std::uint32_t object =
        objectNumber({std::string(file, code.fileLength), {}, std::string(name, code.nameLength)});
    processes_[record.process].codes.push_back(
        {code.begin, code.end, object,
         SourceLines(code.firstLine, std::string_view(table, code.tableLength))});
}

/// A function of a JIT compiler.
void StackTable::takeCompiled(const Record& record) {
    if (record.type != record::compiledCode || record.bytes.size() <= sizeof(CompiledCode))
        return;
    const auto code = read<CompiledCode>(record.bytes.data());
    if (code.process >= processes_.size() || code.end <= code.begin || code.end > firstInterpreted)
        return;
    const auto* const name =
        reinterpret_cast<const char*>(record.bytes.data() + sizeof(CompiledCode));
    const std::uint32_t object =
        objectNumber({{}, {}, withoutTier(std::string(name, record.bytes.size() - sizeof code))});
    processes_[code.process].codes.push_back({code.begin, code.end, object, SourceLines(0, {})});
}

std::uint32_t StackTable::objectNumber(Object object) {
    const auto [known, isNew] = numbers_.try_emplace({object.path, object.buildId, object.function},
                                                     static_cast<std::uint32_t>(objects_.size()));
    if (isNew)
        objects_.push_back(std::move(object));
    return known->second;
}

/// The process that a node is of: itself, or one of those that it was forked with; null if none.
const StackTable::Process* StackTable::holderOf(std::uint32_t process, std::uint32_t node) const {
    while (process < processes_.size()) {
        const std::vector<Node>& nodes = processes_[process].nodes;
        if (!nodes.empty() && nodes.front().number <= node)
            return &processes_[process];
        process = processes_[process].inherits;
    }
    return nullptr;
}

/// Whether calls of one place may have different nodes. An object may be in its memory several
/// times, one after the other or at once. A line of an interpreter has several instructions.
bool StackTable::loadsAgain(std::uint32_t process) const {
    std::vector<bool> loaded(objects_.size());
    for (; process < processes_.size(); process = processes_[process].inherits) {
        if (!processes_[process].codes.empty())
            return true;
        for (const Module& module : processes_[process].modules) {
            if (loaded[module.object])
                return true;
            loaded[module.object] = true;
        }
    }
    return false;
}

/// The numbers of its nodes, ascending, with those that it was forked with.
std::vector<std::uint32_t> StackTable::nodesOf(std::uint32_t process) const {
    std::vector<std::uint32_t> numbers;
    std::uint32_t above = 0xFFFF'FFFF;
    for (; process < processes_.size(); process = processes_[process].inherits) {
        for (const Node& node : processes_[process].nodes) {
            if (node.number < above)
                numbers.push_back(node.number);
        }
        if (!processes_[process].nodes.empty())
            above = std::min(above, processes_[process].nodes.front().number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

void StackTable::findAlike(std::uint32_t process) {
    using Chain = std::tuple<std::uint32_t, bool, std::uint32_t, std::uint64_t>;
    std::map<Chain, std::uint32_t> known;
    for (const std::uint32_t node : nodesOf(process)) { // a parent before its children
        Call call;
        if (!find(process, node, call))
            continue;
        const Chain chain{firstAlike(process, call.parent), call.cut, call.place.object,
                          call.place.address};
        const std::uint32_t first = known.try_emplace(chain, node).first->second;
        if (first != node)
            processes_[process].alike.emplace(node, first);
    }
}

std::uint32_t StackTable::firstAlike(std::uint32_t process, std::uint32_t node) const {
    if (process >= processes_.size())
        return node;
    const auto& alike = processes_[process].alike;
    const auto found = alike.find(node);
    return found == alike.end() ? node : found->second;
}

bool StackTable::find(std::uint32_t process, std::uint32_t node, Call& call) const {
    const Process* const holder = holderOf(process, node);
    if (holder == nullptr)
        return false;
    const auto found = std::lower_bound(
        holder->nodes.begin(), holder->nodes.end(), node,
        [](const Node& each, std::uint32_t number) { return each.number < number; });
    if (found == holder->nodes.end() || found->number != node)
        return false;
    const Node& stands = *found;
    const std::uint64_t address = stands.addressLow | static_cast<std::uint64_t>(stands.addressHigh)
                                                          << 32U;
    call.parent = stands.parent;
    call.cut = address == cutAddress;
    call.place = call.cut ? Place{} : placeOf(process, address - 1, holder->times[stands.block]);
    return true;
}

/// A number of an interpreter's code, or an address of compiled code. A forked process has the
/// records of its parent, too.
StackTable::Place StackTable::codePlace(std::uint32_t process, std::uint64_t address) const {
    for (; process < processes_.size(); process = processes_[process].inherits) {
        const std::vector<Code>& codes = processes_[process].codes;
        const auto next = std::upper_bound(
            codes.begin(), codes.end(), address,
            [](std::uint64_t wanted, const Code& code) { return wanted < code.begin; });
        if (next == codes.begin())
            continue;
        const auto found = next - 1;
        if (address < found->end)
            return {found->object, found->lines.at(address - found->begin)};
    }
    return {noObject, address};
}

std::vector<std::uint64_t> StackTable::strays(std::uint32_t process) const {
    std::vector<std::uint64_t> addresses;
    if (process >= processes_.size())
        return addresses;
    for (const Node& node : processes_[process].nodes) {
        Call call;
        if (find(process, node.number, call) && !call.cut && call.place.object == noObject)
            addresses.push_back(call.place.address);
    }
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    return addresses;
}

/// Where an address lay when nodes were begun: of several objects that were there one after the
/// other, the first that was still loaded then.
StackTable::Place StackTable::placeOf(std::uint32_t process, std::uint64_t address,
                                      std::uint64_t time) const {
    const std::uint32_t asked = process;
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
                            : codePlace(asked, address);
}

} // namespace heapwright::trace
