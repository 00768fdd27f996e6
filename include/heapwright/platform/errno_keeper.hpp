// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps errno over a scope. Every function of this folder that may fail in the system restores what
// was there: `free` must not change errno, and `malloc` sets it in one place, the entry points.
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
