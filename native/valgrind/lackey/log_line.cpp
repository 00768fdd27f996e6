// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses the lines of the log; log_line.hpp shows their format.
#include "log_line.hpp"

namespace heapwright::valgrind {

namespace {

/// The value of a digit; uppercase in chains of calls. 99 for any other character.
constexpr unsigned digit(char character) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= '0' && byte <= '9') {
        return byte - unsigned{'0'};
    }
    const unsigned lower = byte | 0x20U;
    return lower >= unsigned{'a'} && lower <= unsigned{'f'} ? lower - unsigned{'a'} + 10 : 99;
}

/// The kind of a trace line, from its first three characters.
Line kindOf(std::string_view text) {
    if (text.size() < 4 || text[2] != ' ') {
        return Line::other;
    }
    if (text[0] == 'I' && text[1] == ' ') {
        return Line::instruction;
    }
    if (text[0] != ' ') {
        return Line::other;
    }
    const char letter = text[1];
    return letter == 'L' ? Line::load : letter == 'S' || letter == 'M' ? Line::write : Line::other;
}

} // namespace

LogLine readLine(std::string_view text) {
    LogLine line{kindOf(text), 0, 0, text};
    if (line.kind == Line::other) {
        return line;
    }
    const char* at = text.data() + 3;
    const char* const end = text.data() + text.size();
    for (unsigned value = 0; at < end && (value = digit(*at)) < 16; ++at) {
        line.address = line.address << 4 | value;
    }
    if (at == text.data() + 3 || at == end || *at != ',' || ++at == end) {
        return {Line::misread, 0, 0, text};
    }
    for (unsigned value = 0; at < end && (value = digit(*at)) < 10; ++at) {
        line.size = line.size * 10 + value;
    }
    return at == end ? line : LogLine{Line::misread, 0, 0, text};
}

bool Fields::skip(std::string_view word) {
    const bool here = text_.substr(0, word.size()) == word;
    if (here) {
        text_.remove_prefix(word.size());
    }
    return here;
}

bool Fields::find(std::string_view word) {
    const std::size_t at = text_.find(word);
    if (at != std::string_view::npos) {
        text_.remove_prefix(at + word.size());
    }
    return at != std::string_view::npos;
}

std::uint64_t Fields::number(unsigned base) {
    while (!text_.empty() && text_.front() == ' ') {
        text_.remove_prefix(1);
    }
    std::uint64_t value = 0;
    std::size_t length = 0;
    for (; length < text_.size() && digit(text_[length]) < base; ++length) {
        value = value * base + digit(text_[length]);
    }
    good_ = good_ && length != 0;
    text_.remove_prefix(length);
    return value;
}

} // namespace heapwright::valgrind
