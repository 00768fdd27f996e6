// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The text log that the C library's mtrace() writes to the file of MALLOC_TRACE. A line is `@ `,
// the place of the call up to a bracket, and the call:
//
//   + BLOCK SIZE   an allocation of any routine
//   - BLOCK        a free
//   < OLD          the first half of a realloc
//   > NEW SIZE     the second half of it
//   ! OLD SIZE     a realloc that failed
//
// A line may lack the place. The log has no threads, no times and no alignments: each call takes a
// tick. A killed program leaves a last line without an end, which is counted and not read.
#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "trace/program/import/import.hpp"
#include "trace/program/import/line.hpp"

namespace heapwright::trace {

namespace {

constexpr std::string_view start = "= Start";

class MtraceTextReader {
public:
    explicit MtraceTextReader(Import& import) : import_(import), thread_(import.thread(0)) {}

    void readLine(Line line) {
        const std::uint64_t where = line.offset();
        const std::string_view call = line.word();
        if (call == "=")
            return;
        const std::uint64_t block = line.address();
        if (call == "-")
            freed(block);
        else if (call == "+")
            add({.routine = Routine::malloc, .address = block, .size = line.number()});
        else if (call == "<")
            moving_.push_back(block);
        else if (call == ">")
            moved(block, line.number());
        else if (call == "!")
            import_.odd("reallocs that failed");
        else
            throw TraceError("an unknown call", where);
    }

    /// Counts the halves of reallocs whose second half is missing.
    void end() {
        for (std::size_t left = moving_.size(); left > 0; --left)
            import_.odd("reallocs without an end");
    }

private:
    void freed(std::uint64_t block) {
        if (live_.erase(block) == 0)
            import_.odd("frees of blocks that the log does not allocate");
        add({.routine = Routine::free, .address = block});
    }

    /// Two threads may be inside realloc. The log does not name them, so the later start ends
    /// first.
    void moved(std::uint64_t block, std::uint64_t size) {
        std::uint64_t old = 0;
        if (moving_.empty()) {
            import_.odd("reallocs without a start");
        } else {
            old = moving_.back();
            moving_.pop_back();
            live_.erase(old);
        }
        add({.routine = Routine::realloc, .address = block, .old = old, .size = size});
    }

    void add(Event event) {
        if (!isFree(event.routine) && event.address != 0)
            live_.insert(event.address);
        event.usable = event.size;
        event.time = event.began = import_.step();
        event.thread = thread_;
        import_.writer.add(event);
    }

    Import& import_;
    std::uint32_t thread_;
    std::unordered_set<std::uint64_t> live_;
    std::vector<std::uint64_t> moving_;
};

/// The call of a line: what follows the place, whose last character is a bracket.
Line callOf(std::string_view text, std::uint64_t offset) {
    const std::size_t place = text.starts_with("@ ") ? text.rfind("] ") : std::string_view::npos;
    const std::size_t from = place == std::string_view::npos ? 0 : place + 2;
    return {text.substr(from), offset + from};
}

} // namespace

void importMtraceText(Import& import) {
    const std::string_view all(reinterpret_cast<const char*>(import.bytes.data()),
                               import.bytes.size());
    if (!all.starts_with(start))
        throw TraceError("no log of mtrace(): the first line should be \"= Start\"", 0);
    MtraceTextReader reader(import);
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = all.find('\n', at);
        const std::string_view text = all.substr(at, end - at);
        if (end == std::string_view::npos) {
            if (!text.starts_with("= "))
                import.odd("a last line that is cut off");
            break;
        }
        const Line line = callOf(text, at);
        if (!line.atEnd())
            reader.readLine(line);
        at = end + 1;
    }
    reader.end();
}

} // namespace heapwright::trace
