// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks all signals of the calling thread until the end of a scope. No handler then interrupts a
// thread that holds a lock which the handler would wait for. A thread that is created inside the
// scope begins with all signals blocked.
#pragma once

#include <csignal>
#include <pthread.h>

namespace heapwright::platform {

class BlockedSignals {
public:
    BlockedSignals() noexcept {
        ::sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_); // keeps errno
    }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;
    ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    ::sigset_t before_;
};

} // namespace heapwright::platform
