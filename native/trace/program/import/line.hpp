// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One line of a text format, and its place in the file. A word that is no number is refused with
// TraceError and its place.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/reader.hpp"

namespace heapwright::trace {

/// One line, taken word by word.
class Line {
public:
    Line(std::string_view text, std::uint64_t offset) : text_(text), offset_(offset) {}

    std::string_view word() {
        while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t'))
            drop(1);
        const std::size_t end = std::min(text_.find_first_of(" \t"), text_.size());
        const std::string_view word = text_.substr(0, end);
        drop(end);
        return word;
    }

    /// A number, hexadecimal after 0x.
    std::uint64_t number() {
        std::string_view word = this->word();
        const std::uint64_t where = offset_ - word.size();
        const bool hexadecimal = word.starts_with("0x");
        if (hexadecimal)
            word.remove_prefix(2);
        std::uint64_t value = 0;
        const auto result =
            std::from_chars(word.data(), word.data() + word.size(), value, hexadecimal ? 16 : 10);
        if (result.ec != std::errc() || result.ptr != word.data() + word.size())
            throw TraceError("here should be a number", where);
        return value;
    }

    /// An address as the C library prints it: `(nil)` is 0.
    std::uint64_t address() {
        Line after = *this;
        if (after.word() != "(nil)")
            return number();
        *this = after;
        return 0;
    }

    bool atEnd() const { return text_.find_first_not_of(" \t\r") == std::string_view::npos; }
    std::uint64_t offset() const { return offset_; }

private:
    void drop(std::size_t count) {
        text_.remove_prefix(count);
        offset_ += count;
    }

    std::string_view text_;
    std::uint64_t offset_;
};

} // namespace heapwright::trace
