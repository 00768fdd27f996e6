// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Restores errno at the end of a scope. `free` must not change errno, and only the entry points
// set it for `malloc`. So a function of this folder uses it if its system call can change the errno
// that their caller sees.
#pragma once

#include <cerrno>

namespace heapwright::platform {

class ErrnoKeeper {
public:
    ErrnoKeeper() noexcept : saved_(errno) {}
    ErrnoKeeper(const ErrnoKeeper&) = delete;
    ErrnoKeeper& operator=(const ErrnoKeeper&) = delete;
    ~ErrnoKeeper() { errno = saved_; }

private:
    int saved_;
};

} // namespace heapwright::platform
