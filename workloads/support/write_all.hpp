// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a whole text to a descriptor.
#pragma once

#include <cerrno>
#include <cstddef>
#include <unistd.h>

namespace heapwright::workloads {

/// False if the system reports an error. Part of the text may have been written then.
inline bool writeAll(int descriptor, const char* text, std::size_t length) {
    while (length > 0) {
        const ssize_t written = write(descriptor, text, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text += written;
        length -= static_cast<std::size_t>(written);
    }
    return true;
}

} // namespace heapwright::workloads
