// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See json.hpp.
#include "json.hpp"

#include <cmath>
#include <cstdio>
#include <heapwright/core/json.hpp>

namespace heapwright::runner {

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
    text_ += jsonText(text);
    return *this;
}

Json& Json::value(double number) {
    if (!std::isfinite(number)) {
        return null();
    }
    separate();
    char digits[40]; // 15 digits suffice for any decimal fraction of a nanosecond count
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

} // namespace heapwright::runner
