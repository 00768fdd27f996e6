// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a whole text to a descriptor, in as many pieces as needed.
#pragma once

#include <cerrno>
#include <string>
#include <unistd.h>

namespace heapwright::runner {

/// Returns false, with errno, if it was not written completely.
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
