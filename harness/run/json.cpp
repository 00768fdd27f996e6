// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See json.hpp.
#include "json.hpp"

#include <cmath>
#include <cstdio>

namespace heapwright::harness {

namespace {

unsigned byteAt(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

bool continuesAt(std::string_view text, std::size_t at) {
    return (byteAt(text, at) & 0xC0U) == 0x80U;
}

/// The length of the well-formed sequence at this place (Unicode, table 3-7), or 0.
std::size_t sequence(std::string_view text, std::size_t at) {
    const unsigned first = byteAt(text, at);
    const unsigned next = byteAt(text, at + 1);
    if (first < 0x80U) {
        return 1;
    }
    if (first < 0xC2U || first > 0xF4U || !continuesAt(text, at + 1)) {
        return 0;
    }
    if (first < 0xE0U) {
        return 2;
    }
    if (!continuesAt(text, at + 2)) {
        return 0;
    }
    if (first < 0xF0U) {
        const bool overlong = first == 0xE0U && next < 0xA0U;
        const bool surrogate = first == 0xEDU && next >= 0xA0U;
        return overlong || surrogate ? 0 : 3;
    }
    const bool overlong = first == 0xF0U && next < 0x90U;
    const bool beyond = first == 0xF4U && next >= 0x90U;
    return overlong || beyond || !continuesAt(text, at + 3) ? 0 : 4;
}

} // namespace

void Json::separate() {
    if (!first_) {
        text_ += ',';
    }
    first_ = false;
}

Json& Json::open(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
    return *this;
}

Json& Json::close(char bracket) {
    text_ += bracket;
    first_ = false;
    return *this;
}

Json& Json::key(std::string_view name) {
    value(name);
    text_ += ':';
    first_ = true;
    return *this;
}

Json& Json::value(std::string_view text) {
    separate();
    text_ += '"';
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = sequence(text, at);
        const char byte = text[at];
        if (length == 0) {
            text_ += "\xEF\xBF\xBD";
            ++at;
            continue;
        }
        if (byte == '"' || byte == '\\') {
            text_ += '\\';
        }
        if (length == 1 && static_cast<unsigned char>(byte) < 0x20U) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
            text_ += escape;
        } else {
            text_.append(text.substr(at, length));
        }
        at += length;
    }
    text_ += '"';
    return *this;
}

Json& Json::value(double number) {
    if (!std::isfinite(number)) {
        return null();
    }
    separate();
    char digits[40]; // 15 digits: no decimal fraction of a nanosecond count comes out longer than
                     // it is
    std::snprintf(digits, sizeof digits, "%.15g", number);
    text_ += digits;
    return *this;
}

Json& Json::value(std::int64_t number) {
    separate();
    text_ += std::to_string(number);
    return *this;
}

Json& Json::value(bool truth) {
    separate();
    text_ += truth ? "true" : "false";
    return *this;
}

Json& Json::null() {
    separate();
    text_ += "null";
    return *this;
}

} // namespace heapwright::harness
