// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes events by columns, a chunk of rows at a time. A chunk is a u32 number of rows, then seven
// columns of u64 (time, began, address, old, size, usable, alignment). Three columns of u32
// (process, thread, stack) and one of u8 (routine) follow. Zero rows end the output; a u64 with the
// number of faults follows.
// Cost: the memory of one chunk.
#include <vector>

#include "trace/program/program.hpp"

namespace heapwright::trace {

namespace {

constexpr std::size_t rows = std::size_t{1} << 16;

class Columns {
public:
    Columns() {
        for (auto& column : words_)
            column.reserve(rows);
        for (auto& column : halves_)
            column.reserve(rows);
        routines_.reserve(rows);
    }

    void add(const Event& event) {
        const std::uint64_t words[] = {event.time, event.began,  event.address,  event.old,
                                       event.size, event.usable, event.alignment};
        for (std::size_t column = 0; column < std::size(words); ++column)
            words_[column].push_back(words[column]);
        const std::uint32_t halves[] = {event.process, event.thread, event.stack};
        for (std::size_t column = 0; column < std::size(halves); ++column)
            halves_[column].push_back(halves[column]);
        routines_.push_back(static_cast<std::uint8_t>(event.routine));
    }

    std::size_t size() const { return routines_.size(); }

    void write(std::FILE* out) {
        const auto count = static_cast<std::uint32_t>(size());
        std::fwrite(&count, sizeof count, 1, out);
        for (auto& column : words_)
            put(column, out);
        for (auto& column : halves_)
            put(column, out);
        put(routines_, out);
    }

private:
    template <typename Value>
    static void put(std::vector<Value>& column, std::FILE* out) {
        std::fwrite(column.data(), sizeof(Value), column.size(), out);
        column.clear();
    }

    std::vector<std::uint64_t> words_[7];
    std::vector<std::uint32_t> halves_[3];
    std::vector<std::uint8_t> routines_;
};

} // namespace

void writeColumns(const Trace& trace, const Selection& selection, std::FILE* out) {
    MergedEvents events(trace, selection);
    Columns columns;
    Event event;
    while (events.next(event)) {
        columns.add(event);
        if (columns.size() == rows)
            columns.write(out);
        if (std::ferror(out) != 0)
            return;
    }
    if (columns.size() != 0)
        columns.write(out);
    columns.write(out);
    const std::uint64_t faults = trace.faultCount();
    std::fwrite(&faults, sizeof faults, 1, out);
}

} // namespace heapwright::trace
