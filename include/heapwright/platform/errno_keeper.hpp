// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Restores errno at the end of a scope. Every function of this folder that calls the system uses
// it: `free` must not change errno, and only the entry points set it for `malloc`.
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
