// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See command_reader.hpp.
#include "command_reader.hpp"

#include "fatal_error.hpp"

#include <heapwright/platform/ticks.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace heapwright::replayer {

namespace {

void readChunk(int file, char* buffer, std::size_t length, std::uint64_t offset) {
    while (length > 0) {
        const ssize_t got = ::pread(file, buffer, length, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            fatalError(Status::usage, "the plan cannot be read: %s",
                       got < 0 ? strerrordesc_np(errno) : "it is too short");
        }
        buffer += got;
        offset += static_cast<std::uint64_t>(got);
        length -= static_cast<std::size_t>(got);
    }
}

} // namespace

const std::uint64_t* CommandReader::nextChunk() {
    const char* bytes = buffer_;
    if (mapped_ != nullptr) {
        bytes = mapped_ + next_.next;
    } else {
        const std::uint64_t began = platform::ticks();
        readChunk(plan_, buffer_, next_.nextBytes, next_.next);
        ticks_ += platform::ticks() - began;
    }
    std::memcpy(&next_, bytes, sizeof next_);
    if (mapped_ == nullptr && next_.next != 0) {
        ::posix_fadvise(plan_, static_cast<off_t>(next_.next), static_cast<off_t>(next_.nextBytes),
                        POSIX_FADV_WILLNEED);
    }
    return reinterpret_cast<const std::uint64_t*>(bytes) + sizeof next_ / sizeof(std::uint64_t);
}

} // namespace heapwright::replayer
