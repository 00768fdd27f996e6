// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See curve.hpp.
#include "curve.hpp"

#include "fatal_error.hpp"
#include "memory.hpp"

#include <charconv>
#include <cstring>

namespace heapwright::replayer {

namespace {

constexpr std::size_t longestLine = 64;
constexpr char heading[] = "operation,live_bytes,live_objects\n";

} // namespace

Curve::Curve(int descriptor) : descriptor_(descriptor), text_(mapArray<char>(room)) {
    std::memcpy(text_, heading, sizeof heading - 1);
    used_ = sizeof heading - 1;
}

void Curve::change(std::int64_t bytes, std::int64_t objects, bool operation) {
    bytes_ += bytes;
    objects_ += objects;
    if (!operation) {
        return;
    }
    if (used_ + longestLine > room) {
        flush();
    }
    char* at = text_ + used_;
    char* const end = text_ + room;
    at = std::to_chars(at, end, ++operation_).ptr;
    *at++ = ',';
    at = std::to_chars(at, end, bytes_).ptr;
    *at++ = ',';
    at = std::to_chars(at, end, objects_).ptr;
    *at++ = '\n';
    used_ = static_cast<std::size_t>(at - text_);
}

void Curve::flush() {
    writeAll(descriptor_, text_, used_);
    used_ = 0;
}

} // namespace heapwright::replayer
