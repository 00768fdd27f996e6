// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A writer for the JSON documents that the programs print. It places commas, escapes texts, and
// replaces bytes that are no valid UTF-8 by the replacement character. A number that is not finite
// becomes null. A finite number is written with the fewest digits that identify it.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heapwright {

namespace detail {

/// The number of bytes of the well-formed character that begins `text`; 0 if none does.
/// Pre: `text` is not empty.
inline std::size_t characterLength(std::string_view text) {
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

} // namespace detail

/// A text in quotes, escaped.
inline std::string jsonText(std::string_view text) {
    constexpr char hexDigits[] = "0123456789abcdef";
    std::string to = "\"";
    while (!text.empty()) {
        const auto byte = static_cast<unsigned char>(text.front());
        const std::size_t length = detail::characterLength(text);
        if (length == 0) {
            to += "\\ufffd";
        } else if (byte == '"' || byte == '\\') {
            (to += '\\') += text.front();
        } else if (byte < 0x20 || byte == 0x7F) {
            ((to += "\\u00") += hexDigits[byte >> 4]) += hexDigits[byte & 15];
        } else {
            to.append(text.data(), length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return to + '"';
}

class Json {
public:
    Json& beginObject() { return open('{'); }
    Json& endObject() { return close('}'); }
    Json& beginArray() { return open('['); }
    Json& endArray() { return close(']'); }

    Json& key(std::string_view name) {
        value(name);
        text_ += ':';
        first_ = true;
        return *this;
    }

    Json& value(std::uint64_t number) { return digits(number); }
    Json& value(std::uint32_t number) { return digits(number); }
    Json& value(double number) { return std::isfinite(number) ? digits(number) : null(); }
    Json& value(bool truth) { return plain(truth ? "true" : "false"); }
    Json& null() { return plain("null"); }
    /// A number in the caller's digits, for one that is too large for any type.
    Json& number(std::string_view digits) { return plain(digits); }
    Json& value(std::string_view text) { return plain(jsonText(text)); }
    Json& value(const char* text) { return value(std::string_view(text)); }

    template <typename Value>
    Json& field(std::string_view name, const Value& content) {
        return key(name).value(content);
    }

    /// Writes nanoseconds as seconds.
    Json& seconds(std::uint64_t nanoseconds) {
        return value(static_cast<double>(nanoseconds) / 1e9);
    }
    Json& secondsField(std::string_view name, std::uint64_t nanoseconds) {
        return key(name).seconds(nanoseconds);
    }

    const std::string& text() const { return text_; }

private:
    template <typename Number>
    Json& digits(Number number) {
        char text[40];
        return plain({text, std::to_chars(text, text + sizeof text, number).ptr});
    }

    Json& plain(std::string_view text) {
        separate();
        text_ += text;
        return *this;
    }

    Json& open(char bracket) {
        separate();
        text_ += bracket;
        first_ = true;
        return *this;
    }

    Json& close(char bracket) {
        text_ += bracket;
        first_ = false;
        return *this;
    }

    void separate() {
        if (!first_)
            text_ += ',';
        first_ = false;
    }

    std::string text_;
    bool first_ = true;
};

} // namespace heapwright
