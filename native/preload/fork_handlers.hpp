// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the heap while the process forks, so that the child finds it consistent.
//
// Other fork handlers may allocate, so these must lock last and unlock first, which is the order of
// the handler registered first. The library is therefore linked with -z initfirst. Its constructor,
// which registers them, runs before that of any other object, even of the libraries that it depends
// on.
//
// The C library takes one more lock later: that of the list of all streams. A thread that flushes
// all streams holds it and may allocate (a stream in memory grows). It would wait for the heap,
// while fork, which holds the heap, waits for the list. Therefore the list is locked here, before
// the heap. In the child, the C library resets that lock if and only if it took the lock itself. It
// does that if there was a second thread. For that reason this code tests for threads, and does not
// unlock in the child.
#pragma once

#include <pthread.h>

#include <heapwright/platform/thread.hpp>

#include <preload/instance.hpp>

extern "C" {
// Weak, because some C libraries do not have them.
[[gnu::weak]] void heapwrightLockStreams() asm("_IO_list_lock");
[[gnu::weak]] void heapwrightUnlockStreams() asm("_IO_list_unlock");
}

namespace heapwright::preload {

template <class Allocator>
class ForkHandlers {
public:
    static void install() { ::pthread_atfork(&before, &inParent, &inChild); }

private:
    /// Whether this thread's fork has locked the list of streams.
    static inline constinit thread_local bool streamsLocked = false;

    static void before() {
        streamsLocked = haveStreamLock() && !platform::singleThreaded();
        if (streamsLocked) {
            heapwrightLockStreams();
        }
        instance<Allocator>().beforeFork();
    }

    static void inParent() {
        instance<Allocator>().afterForkInParent();
        if (streamsLocked) {
            heapwrightUnlockStreams();
        }
    }

    static void inChild() { instance<Allocator>().afterForkInChild(); }

    static bool haveStreamLock() {
        return &heapwrightLockStreams != nullptr && &heapwrightUnlockStreams != nullptr;
    }
};

} // namespace heapwright::preload
