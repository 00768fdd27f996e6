// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See text.hpp.
#include "text.hpp"

#include "memory.hpp"
#include "write_all.hpp"

#include <cstdio>
#include <cstring>

namespace heapwright::workloads {

void Text::append(const char* text, std::size_t length) {
    if (length_ + length > room_) {
        const std::size_t room = 2 * (length_ + length) + 4096;
        char* const larger = mapArray<char>(room);
        if (text_ != nullptr) {
            std::memcpy(larger, text_, length_);
            unmapPages(text_, room_);
        }
        text_ = larger;
        room_ = room;
    }
    std::memcpy(text_ + length_, text, length);
    length_ += length;
}

Text& Text::add(const char* text) {
    append(text, std::strlen(text));
    return *this;
}

Text& Text::number(std::uint64_t value) {
    char digits[24];
    append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%llu",
                                                          static_cast<unsigned long long>(value))));
    return *this;
}

Text& Text::number(double value) {
    char digits[40];
    append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%.9g", value)));
    return *this;
}

Text& Text::next() {
    if (!first_) {
        append(",", 1);
    }
    first_ = false;
    return *this;
}

Text& Text::key(const char* name) {
    next();
    return add("\"").add(name).add("\":");
}

Text& Text::quoted(const char* text) {
    append("\"", 1);
    for (; *text != '\0'; ++text) {
        if (*text == '"' || *text == '\\') {
            append("\\", 1);
        }
        append(*text == '\n' ? " " : text, 1);
    }
    append("\"", 1);
    return *this;
}

Text& Text::open(char bracket) {
    append(&bracket, 1);
    first_ = true;
    return *this;
}

Text& Text::close(char bracket) {
    append(&bracket, 1);
    first_ = false;
    return *this;
}

const char* Text::text() {
    append("", 1);
    --length_;
    return text_;
}

bool Text::writeTo(int descriptor) {
    return writeAll(descriptor, text_, length_);
}

} // namespace heapwright::workloads
