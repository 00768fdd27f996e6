// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The lock of the C library's list of all streams, for handlers of forks.
//
// The C library takes this lock after all handlers. A thread that flushes all streams holds it and
// may allocate (a stream in memory grows). It would wait for a lock of the heap, while fork, which
// holds that lock, waits for the list. Therefore a handler locks the list before its own lock. The
// lock can be taken more than once by its thread.
//
// In the child, the C library resets the lock if and only if it took the lock itself. It does that
// if there was a second thread. For that reason this code tests for threads, and nothing unlocks
// the list in the child.
#pragma once

#include <heapwright/platform/thread.hpp>

extern "C" {
// Weak, because some C libraries do not have them.
[[gnu::weak]] void heapwrightLockStreams() asm("_IO_list_lock");
[[gnu::weak]] void heapwrightUnlockStreams() asm("_IO_list_unlock");
}

namespace heapwright::preload {

/// Locks the list if there is a second thread. False: it did not, and nothing must be unlocked.
[[nodiscard]] inline bool lockStreams() noexcept {
    const bool known = &heapwrightLockStreams != nullptr && &heapwrightUnlockStreams != nullptr;
    const bool locks = known && !platform::singleThreaded();
    if (locks) {
        heapwrightLockStreams();
    }
    return locks;
}

/// Pre: `lockStreams` returned true, in this process.
inline void unlockStreams() noexcept {
    heapwrightUnlockStreams();
}

} // namespace heapwright::preload
