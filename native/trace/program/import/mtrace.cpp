// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Raw records of the C library's malloc traces (the branch that traces into a ring). Each has 64
// bytes. They are in the order in which they were begun. Threads are the kernel's numbers.
#include <cstring>
#include <unordered_map>

#include "trace/program/import/import.hpp"

namespace heapwright::trace {

namespace {

struct MtraceRecord {
    std::int32_t thread;
    std::uint32_t typeAndPath;
    std::uint64_t first;
    std::uint64_t second;
    std::uint64_t size;
    std::uint64_t size2;
    std::uint64_t size3;
    std::uint64_t unused[2];
};
static_assert(sizeof(MtraceRecord) == 64);

constexpr unsigned typeUnused = 0;
constexpr unsigned typeFree = 3;
constexpr unsigned typeRealloc = 4;
constexpr unsigned typeMemalign = 5;
constexpr unsigned typePosixMemalign = 8;
constexpr unsigned typeMagic = 255;
constexpr std::uint64_t magicAddress = 0x1234;

Event eventOf(const MtraceRecord& record, unsigned type) {
    static constexpr Routine routines[] = {
        Routine::malloc, Routine::malloc,  Routine::calloc,
        Routine::free,   Routine::realloc, Routine::memalign,
        Routine::valloc, Routine::pvalloc, Routine::posixMemalign};
    Event event;
    event.routine = routines[type];
    if (type == typeFree) {
        event.address = record.first;
        return event;
    }
    event.address = record.second;
    event.size = event.usable = record.size;
    if (type == typeRealloc)
        event.old = record.first;
    if (type == typeMemalign || type == typePosixMemalign)
        event.alignment = record.size2;
    // What posix_memalign answered stands where others have an address.
    if (type == typePosixMemalign && record.first != 0)
        event.address = 0;
    return event;
}

} // namespace

void importMtrace(Import& import) {
    if (import.bytes.size() % sizeof(MtraceRecord) != 0)
        throw TraceError("the file ends within a record",
                         import.bytes.size() / sizeof(MtraceRecord) * sizeof(MtraceRecord));
    std::unordered_map<std::int32_t, std::uint32_t> threads;
    for (std::size_t at = 0; at < import.bytes.size(); at += sizeof(MtraceRecord)) {
        MtraceRecord record;
        std::memcpy(&record, import.bytes.data() + at, sizeof record);
        const unsigned type = record.typeAndPath & 0xFF;
        if (type == typeMagic && record.first == magicAddress && record.size == sizeof(void*))
            continue;
        if (type == typeMagic)
            throw TraceError("the records are of another machine's word", at);
        if (at == 0)
            throw TraceError("this is no .mtrace file: no magic record in front", at);
        if (type > typePosixMemalign)
            throw TraceError("a record of unknown type " + std::to_string(type), at);
        if (type == typeUnused) {
            import.odd("unused records");
            continue;
        }
        auto found = threads.find(record.thread);
        if (found == threads.end())
            found = threads.emplace(record.thread, import.thread(at)).first;
        Event event = eventOf(record, type);
        event.thread = found->second;
        event.time = event.began = import.step();
        import.writer.add(event);
    }
}

} // namespace heapwright::trace
