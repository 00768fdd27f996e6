// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON: places commas, escapes strings, and replaces bytes that are no valid UTF-8 by the
// replacement character. A number that is not finite becomes null.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heapwright::runner {

class Json {
public:
    Json& open(char bracket); ///< { or [
    Json& close(char bracket);
    Json& key(std::string_view name);
    Json& value(std::string_view text);
    Json& value(const char* text) { return value(std::string_view(text)); }
    Json& value(double number);
    Json& value(std::int64_t number);
    Json& value(int number) { return value(std::int64_t{number}); }
    Json& value(bool truth);
    Json& null();

    const std::string& text() const { return text_; }

private:
    void separate();

    std::string text_;
    bool first_ = true;
};

} // namespace heapwright::runner
