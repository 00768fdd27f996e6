// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON text (RFC 8259).
#include "profiler/json.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>

namespace heapwright::profile {
namespace {

constexpr char hexDigits[] = "0123456789abcdef";

/// The length of the UTF-8 character that begins `text`, 0 if none does.
std::size_t characterLength(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned lead = byte(0);
    if (lead < 0x80)
        return 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length)
        return 0;
    for (std::size_t at = 1; at < length; ++at)
        if ((byte(at) & 0xC0U) != 0x80)
            return 0;
    const unsigned second = byte(1);
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool beyond = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
    return overlong || beyond ? 0 : length;
}

} // namespace

Json& Json::key(std::string_view name) {
    separate();
    escape(name);
    text_ += ':';
    first_ = true;
    return *this;
}

Json& Json::value(std::uint64_t number) {
    separate();
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    text_.append(digits, end);
    return *this;
}

Json& Json::value(double number) {
    if (!std::isfinite(number))
        return null();
    separate();
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    text_.append(digits, end);
    return *this;
}

Json& Json::value(bool truth) {
    separate();
    text_ += truth ? "true" : "false";
    return *this;
}

Json& Json::value(std::string_view text) {
    separate();
    escape(text);
    return *this;
}

Json& Json::null() {
    separate();
    text_ += "null";
    return *this;
}

Json& Json::seconds(std::uint64_t nanoseconds) {
    return value(static_cast<double>(nanoseconds) / 1e9);
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

void Json::separate() {
    if (!first_)
        text_ += ',';
    first_ = false;
}

void Json::escape(std::string_view text) {
    text_ += '"';
    while (!text.empty()) {
        const auto byte = static_cast<unsigned char>(text.front());
        const std::size_t length = characterLength(text);
        if (length == 0) {
            text_ += "\\ufffd";
        } else if (byte == '"' || byte == '\\') {
            (text_ += '\\') += text.front();
        } else if (byte < 0x20 || byte == 0x7F) {
            ((text_ += "\\u00") += hexDigits[byte >> 4]) += hexDigits[byte & 15];
        } else {
            text_.append(text.substr(0, length));
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    text_ += '"';
}

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace heapwright::profile
