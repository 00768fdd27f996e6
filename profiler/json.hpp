// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON as it comes: objects, arrays, numbers, texts. Whoever writes takes care that each
// object that is begun is ended; commas and escapes are done here. A text's bytes that are no UTF-8
// become U+FFFD, so that what is written can be read whatever a program was called.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heapwright::profile {

class Json {
public:
    Json& beginObject() { return open('{'); }
    Json& endObject() { return close('}'); }
    Json& beginArray() { return open('['); }
    Json& endArray() { return close(']'); }
    Json& key(std::string_view name);

    Json& value(std::uint64_t number);
    Json& value(std::uint32_t number) { return value(std::uint64_t{number}); }
    Json& value(double number); ///< null where it is not finite
    Json& value(bool truth);
    Json& value(std::string_view text);
    Json& value(const char* text) { return value(std::string_view(text)); }
    Json& null();

    template <typename Value>
    Json& field(std::string_view name, const Value& content) {
        return key(name).value(content);
    }
    /// Nanoseconds, written as seconds.
    Json& seconds(std::uint64_t nanoseconds);
    Json& secondsField(std::string_view name, std::uint64_t nanoseconds) {
        return key(name).seconds(nanoseconds);
    }

    const std::string& text() const { return text_; }

private:
    Json& open(char bracket);
    Json& close(char bracket);
    void separate();
    void escape(std::string_view text);

    std::string text_;
    bool first_ = true;
};

/// `part` of `whole`; of nothing it is nothing.
double share(std::uint64_t part, std::uint64_t whole);

} // namespace heapwright::profile
