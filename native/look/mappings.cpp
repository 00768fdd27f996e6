// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "mappings.hpp"

#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace heapwright::look {

namespace {

std::string_view word(std::string_view& text) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
        return text = {};
    }
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view found = text.substr(begin, end - begin);
    text.remove_prefix(end);
    return found;
}

std::uint64_t number(std::string_view text, int base) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

/// Parses "7f05-7f06 rw-p 00000000 fe:00 123   /path". False for a line of another form.
bool parseFirst(std::string_view line, Mapping& mapping) {
    const std::string_view range = word(line);
    const std::size_t dash = range.find('-');
    if (dash == std::string_view::npos || range.back() == ':') {
        return false;
    }
    mapping.begin = number(range.substr(0, dash), 16);
    mapping.end = number(range.substr(dash + 1), 16);
    const std::string_view rights = word(line);
    if (rights.size() < 4 || mapping.end <= mapping.begin) {
        return false;
    }
    mapping.readable = rights[0] == 'r';
    mapping.writable = rights[1] == 'w';
    mapping.executable = rights[2] == 'x';
    mapping.isShared = rights[3] == 's';
    for (int skipped = 0; skipped < 3; ++skipped) { // offset, device, file number
        word(line);
    }
    const std::size_t path = line.find_first_not_of(' ');
    mapping.path = path == std::string_view::npos ? "" : std::string(line.substr(path));
    if (mapping.path.starts_with("[anon:")) { // a name that the program gave to anonymous memory
        mapping.path.clear();
    }
    return true;
}

void parseFigure(std::string_view line, Mapping& mapping) {
    const std::string_view name = word(line);
    std::uint64_t* const to = name == "Rss:"         ? &mapping.resident
                              : name == "Swap:"      ? &mapping.swapped
                              : name == "LazyFree:"  ? &mapping.lazyFree
                              : name == "Anonymous:" ? &mapping.anonymous
                                                     : nullptr;
    if (to != nullptr) {
        *to = number(word(line), 10) * 1024;
    }
}

} // namespace

std::string contentOf(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        throw std::system_error(errno, std::generic_category(), path);
    }
    std::string text;
    char buffer[1 << 16];
    ssize_t got = 0;
    while ((got = read(file, buffer, sizeof buffer)) > 0) {
        text.append(buffer, static_cast<std::size_t>(got));
    }
    const int failure = errno;
    close(file);
    if (got < 0) {
        throw std::system_error(failure, std::generic_category(), path);
    }
    return text;
}

std::vector<Mapping> parseMappings(std::string_view text) {
    std::vector<Mapping> all;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty()) {
            continue;
        }
        const bool isFigure = line.front() >= 'A' && line.front() <= 'Z';
        Mapping mapping;
        if (isFigure && !all.empty()) {
            parseFigure(line, all.back());
        } else if (!isFigure && parseFirst(line, mapping)) {
            all.push_back(std::move(mapping));
        }
    }
    return all;
}

} // namespace heapwright::look
