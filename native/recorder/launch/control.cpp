// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See control.hpp.
#include "control.hpp"

#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace heapwright::recorder::launch {

namespace {

std::optional<bool> read(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        return std::nullopt;
    }
    char text[16] = {};
    const ssize_t length = ::read(file, text, sizeof text);
    ::close(file);
    std::string_view word(text, length > 0 ? static_cast<std::size_t>(length) : 0);
    word = word.substr(0, word.find_first_of(" \t\r\n"));
    if (word == "on" || word == "1") {
        return true;
    }
    return word == "off" || word == "0" ? std::optional(false) : std::nullopt;
}

} // namespace

std::optional<bool> ControlFile::change() {
    if (path_ == nullptr) {
        return std::nullopt;
    }
    const std::optional<bool> now = read(path_);
    if (!now.has_value() || now == last_) {
        return std::nullopt;
    }
    last_ = now;
    return now;
}

} // namespace heapwright::recorder::launch
