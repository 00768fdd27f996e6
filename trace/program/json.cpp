// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/program/json.hpp"

#include <cstddef>
#include <cstdio>

namespace heapwright::trace {

namespace {

/// Bytes of the well-formed character that begins here; 0 if none does.
std::size_t characterAt(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t more) {
        return at + more < text.size() ? static_cast<unsigned char>(text[at + more]) : 0U;
    };
    const unsigned first = byte(0);
    const auto follows = [&](std::size_t more) { return (byte(more) & 0xC0U) == 0x80U; };
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first < 0xE0 && follows(1))
        return 2;
    const unsigned second = byte(1);
    if (first >= 0xE0 && first < 0xF0 && follows(1) && follows(2)) {
        const bool shorter = first == 0xE0 && second < 0xA0;
        const bool surrogate = first == 0xED && second >= 0xA0;
        return shorter || surrogate ? 0 : 3;
    }
    if (first >= 0xF0 && first < 0xF5 && follows(1) && follows(2) && follows(3)) {
        const bool shorter = first == 0xF0 && second < 0x90;
        const bool beyond = first == 0xF4 && second >= 0x90;
        return shorter || beyond ? 0 : 4;
    }
    return 0;
}

} // namespace

std::string jsonText(std::string_view text) {
    std::string quoted = "\"";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = characterAt(text, at);
        const char one = text[at];
        if (length == 0) {
            quoted += "\\ufffd";
        } else if (one == '"' || one == '\\') {
            quoted += '\\';
            quoted += one;
        } else if (static_cast<unsigned char>(one) < 0x20 || one == 0x7F) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(one));
            quoted += escaped;
        } else {
            quoted.append(text, at, length);
        }
        at += length == 0 ? 1 : length;
    }
    return quoted + '"';
}

} // namespace heapwright::trace
