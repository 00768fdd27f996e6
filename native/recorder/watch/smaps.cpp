// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A mapping begins with a line in lower case (its addresses, hexadecimal); the lines about it begin
// with a capital letter.
#include "smaps.hpp"

#include <algorithm>
#include <charconv>

namespace heapwright::recorder::watch {

namespace {

constexpr std::uint64_t kib = 1024;

/// Takes the next word off the line.
std::string_view word(std::string_view& line) {
    const std::size_t from = line.find_first_not_of(' ');
    if (from == std::string_view::npos) {
        line = {};
        return {};
    }
    const std::size_t to = std::min(line.find(' ', from), line.size());
    const std::string_view found = line.substr(from, to - from);
    line.remove_prefix(to);
    return found;
}

std::uint64_t number(std::string_view text, int base) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

bool endsWith(const std::string& text, std::string_view end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Whether a mapped file is one of the libraries that are in the process because it is recorded.
bool isRecorders(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name == "libheapwright-recorder.so" || name == "libheapwright-witness.so" ||
           name == "libheapwright-hold.so";
}

} // namespace

void SmapsParser::parse(std::string_view text, trace::SystemSample& sample) {
    sample.mappings.clear();
    sample.fixed = sample.stack = sample.trace = sample.lazy = 0;
    objects_.clear();
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty()) {
            continue;
        }
        if (line[0] >= 'A' && line[0] <= 'Z') {
            field(line, sample);
        } else {
            begin(line, sample);
        }
    }
}

/// "5628dd171000-5628dd173000 rw-p 00000000 fe:00 247026    /usr/bin/cat"
void SmapsParser::begin(std::string_view line, trace::SystemSample& sample) {
    const std::string_view range = word(line);
    const std::string_view rights = word(line);
    word(line); // the offset
    const std::string_view device = word(line);
    const std::uint64_t file = number(word(line), 10);
    const std::size_t dash = range.find('-');
    if (dash == std::string_view::npos || rights.size() < 4) {
        kind_ = Kind::fixed;
        return;
    }
    const std::size_t at = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view path = line.substr(at);
    if ((file == traceFile_ && device == traceDevice_) || isRecorders(path)) {
        kind_ = Kind::trace;
    } else if (path == "[stack]") {
        kind_ = Kind::stack;
    } else if (rights[1] == 'w') {
        kind_ = Kind::writable;
        sample.mappings.push_back({number(range.substr(0, dash), 16),
                                   number(range.substr(dash + 1), 16), 0, path == "[heap]"});
    } else {
        kind_ = Kind::fixed;
    }
    if (rights[2] == 'x' && file != 0 && !path.empty() && path[0] == '/') {
        const std::string name = std::string(path) + "\n";
        if (!endsWith(objects_, name)) {
            objects_ += name;
        }
    }
}

/// "Rss:                   8 kB"
void SmapsParser::field(std::string_view line, trace::SystemSample& sample) {
    const std::string_view name = word(line);
    if (name == "LazyFree:") {
        sample.lazy += number(word(line), 10) * kib;
        return;
    }
    if (name != "Rss:") {
        return;
    }
    const std::uint64_t bytes = number(word(line), 10) * kib;
    switch (kind_) {
    case Kind::writable:
        sample.mappings.back().resident = bytes;
        break;
    case Kind::fixed:
        sample.fixed += bytes;
        break;
    case Kind::stack:
        sample.stack += bytes;
        break;
    case Kind::trace:
        sample.trace += bytes;
        break;
    }
}

} // namespace heapwright::recorder::watch
