// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a whole text to a descriptor, however many pieces that takes.
#pragma once

#include <cerrno>
#include <string>
#include <unistd.h>

namespace heapwright::runner {

/// False, and errno says why, if it could not be written to the end.
inline bool writeAll(int descriptor, const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t written = write(descriptor, text.data() + at, text.size() - at);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        at += written > 0 ? static_cast<std::size_t>(written) : 0;
    }
    return true;
}

} // namespace heapwright::runner
