// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The last bytes that a command wrote to its standard error. Whatever comes is read at once and
// thrown away but for the tail, so that no amount of it fills anything or makes the command wait.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <unistd.h>

namespace heapwright::runner {

class Tail {
public:
    /// Reads what is there; false once all writers are gone.
    bool drain(int descriptor) {
        char buffer[65536];
        for (int round = 0; round < 64; ++round) { // then let the rest of the program have its turn
            const ssize_t got = read(descriptor, buffer, sizeof buffer);
            if (got == 0) {
                return false;
            }
            if (got < 0) {
                return true; // nothing there now
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
