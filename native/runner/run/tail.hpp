// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The last bytes that a command wrote to its standard error. All output is read at once and only
// the tail is kept, so that the output neither fills memory nor blocks the command.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <unistd.h>

namespace heapwright::runner {

class Tail {
public:
    /// Reads the available output. Returns false once all writers have closed.
    bool drain(int descriptor) {
        char buffer[65536];
        // The number of reads before the rest of the loop runs.
        for (int round = 0; round < 64; ++round) {
            const ssize_t got = read(descriptor, buffer, sizeof buffer);
            if (got == 0) {
                return false;
            }
            if (got < 0) {
                return true; // no more output now
            }
            keep(buffer, static_cast<std::size_t>(got));
        }
        return true;
    }

    const std::string& text() const { return text_; }

private:
    static constexpr std::size_t capacity = 8192;

    void keep(const char* bytes, std::size_t count) {
        if (count >= capacity) {
            text_.assign(bytes + (count - capacity), capacity);
            return;
        }
        if (text_.size() + count > capacity) {
            text_.erase(0, text_.size() + count - capacity);
        }
        text_.append(bytes, count);
    }

    std::string text_;
};

} // namespace heapwright::runner
