// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the log of a command under valgrind line by line while it is written, and keeps nothing.
#pragma once

#include "child.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace heapwright::valgrind {

/// Reads bytes from a descriptor and passes each line to `take(std::string_view)`.
class Reader {
public:
    explicit Reader(int descriptor) : descriptor_(descriptor), buffer_(1 << 18) {}

    /// Returns false at the end.
    template <typename Taker>
    bool readSome(Taker& taker) {
        const ssize_t got = read(descriptor_, buffer_.data() + held_, buffer_.size() - held_);
        if (got < 0 && errno == EINTR) {
            return true;
        }
        if (got <= 0) {
            // After the call by which a process becomes another program, its last line has no end.
            if (held_ != 0) {
                taker.take(std::string_view{buffer_.data(), held_});
                held_ = 0;
            }
            return false;
        }
        bytes_ += static_cast<std::uint64_t>(got);
        const std::size_t end = held_ + static_cast<std::size_t>(got);
        std::size_t begin = 0;
        while (const void* const newline = std::memchr(buffer_.data() + begin, '\n', end - begin)) {
            const auto at =
                static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data());
            taker.take(std::string_view{buffer_.data() + begin, at - begin});
            begin = at + 1;
        }
        held_ = end - begin;
        std::memmove(buffer_.data(), buffer_.data() + begin, held_);
        if (held_ == buffer_.size()) {
            buffer_.resize(2 * buffer_.size());
        }
        return true;
    }

    std::uint64_t bytes() const { return bytes_; }

private:
    int descriptor_;
    std::vector<char> buffer_;
    std::size_t held_ = 0;
    std::uint64_t bytes_ = 0;
};

/// The limits of a command; 0: none.
struct Limits {
    double seconds = 0;
    std::uint64_t traceBytes = 0;
};

inline constexpr std::uint64_t fewBytes = 16 << 10;
inline constexpr unsigned shortWhile = 500; ///< microseconds

/// Reads until the log or the command ends. Returns the limit that ended it, or null. A signal
/// handler sets `interrupted`.
template <typename Taker>
const char* follow(Child& child, Reader& reader, Taker& taker, const Limits& limits,
                   const volatile std::sig_atomic_t& interrupted) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    pollfd log{child.log(), POLLIN, 0};
    for (;;) {
        // A process that the command left may keep the log open.
        const bool wasThere = !child.ended();
        const int ready = poll(&log, 1, wasThere ? 100 : 0);
        const std::uint64_t before = reader.bytes();
        if (ready > 0 && !reader.readSome(taker)) {
            return nullptr;
        }
        // Valgrind writes line by line. Waking up for each line would cost both sides several times
        // as much.
        if (wasThere && reader.bytes() - before < fewBytes) {
            usleep(shortWhile);
        }
        if (ready == 0 && !wasThere) {
            return nullptr;
        }
        if (interrupted != 0) {
            return "interrupted";
        }
        if (limits.traceBytes != 0 && reader.bytes() > limits.traceBytes) {
            return "trace";
        }
        const std::chrono::duration<double> taken = Clock::now() - begin;
        if (limits.seconds > 0 && taken.count() > limits.seconds) {
            return "time";
        }
    }
}

} // namespace heapwright::valgrind
