// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Android's text traces: one call a line, `TID: op ADDRESS ...`, with or without the times of its
// begin and end in ns. Where lines have no times each call takes a tick.
#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

#include "trace/program/import/import.hpp"
#include "trace/program/import/line.hpp"

namespace heapwright::trace {

namespace {

class AndroidReader {
public:
    explicit AndroidReader(Import& import) : import_(import) {}

    void readLine(Line line) {
        const std::uint64_t begin = line.offset();
        std::string_view who = line.word();
        std::uint64_t id = 0;
        const auto result = std::from_chars(who.data(), who.data() + who.size(), id);
        if (result.ec != std::errc() || result.ptr == who.data() ||
            std::string_view(result.ptr, who.data() + who.size()) != ":")
            throw TraceError("here should be a thread's number and a colon", begin);
        const std::uint64_t where = line.offset();
        const std::string_view operation = line.word();
        const std::uint64_t address = line.number();
        if (operation == "thread_done") {
            done(id);
            return;
        }
        Event event = eventOf(operation, address, line, where);
        stamp(event, line);
        event.thread = threadOf(id, begin);
        import_.writer.add(event);
    }

private:
    static Event eventOf(std::string_view operation, std::uint64_t address, Line& line,
                         std::uint64_t where) {
        Event event;
        event.address = address;
        if (operation == "free") {
            event.routine = Routine::free;
            return event;
        }
        if (operation == "malloc") {
            event.size = line.number();
        } else if (operation == "calloc") {
            event.routine = Routine::calloc;
            const std::uint64_t count = line.number();
            if (__builtin_mul_overflow(count, line.number(), &event.size))
                event.size = ~std::uint64_t{0};
        } else if (operation == "realloc") {
            event.routine = Routine::realloc;
            event.old = line.number();
            event.size = line.number();
        } else if (operation == "memalign") {
            event.routine = Routine::memalign;
            event.alignment = line.number();
            event.size = line.number();
        } else {
            throw TraceError("an unknown operation", where);
        }
        event.usable = event.size;
        return event;
    }

    void stamp(Event& event, Line& line) {
        if (line.atEnd()) {
            event.time = event.began = last_ = std::max(last_ + Import::tick, import_.step());
            return;
        }
        const std::uint64_t begin = line.number();
        const std::uint64_t end = line.atEnd() ? begin : line.number();
        if (first_ == 0)
            first_ = begin;
        const std::uint64_t from = begin < first_ ? 0 : begin - first_;
        const std::uint64_t to = end < begin ? from : from + (end - begin);
        event.began = isRealloc(event.routine) ? from : isFree(event.routine) ? from : to;
        event.time = isFree(event.routine) ? from : to;
        last_ = std::max(last_, event.time);
    }

    std::uint32_t threadOf(std::uint64_t id, std::uint64_t offset) {
        const auto found = threads_.find(id);
        if (found != threads_.end())
            return found->second;
        return threads_.emplace(id, import_.thread(offset)).first->second;
    }

    void done(std::uint64_t id) {
        const auto found = threads_.find(id);
        if (found == threads_.end())
            return;
        import_.writer.endThread(found->second);
        threads_.erase(found);
    }

    Import& import_;
    std::unordered_map<std::uint64_t, std::uint32_t> threads_;
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
};

} // namespace

void importAndroid(Import& import) {
    const std::string_view all(reinterpret_cast<const char*>(import.bytes.data()),
                               import.bytes.size());
    AndroidReader reader(import);
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = std::min(all.find('\n', at), all.size());
        const Line line(all.substr(at, end - at), at);
        if (!line.atEnd())
            reader.readLine(line);
        at = end + 1;
    }
}

} // namespace heapwright::trace
