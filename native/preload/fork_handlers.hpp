// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the heap still while the process forks, so that the child finds it whole.
//
// Order: the handlers of others may allocate, so ours must be the last to lock and the first to let
// go, which is the order of the handler registered first of all. The library is therefore linked
// with -z initfirst: its constructor runs before that of any other object, even of the libraries
// that it depends on, and registers.
//
// The C library has a lock that it takes still later: the list of all streams. A thread that
// flushes all streams holds it and may allocate (a stream in memory grows), which would wait for
// the heap while fork, with the heap locked, waits for the list. So the list is locked here before
// the heap. In the child the C library makes that lock anew, and it does so exactly when it took it
// itself: when there was a second thread. Hence the question for threads, and no unlocking in the
// child.
#pragma once

#include <pthread.h>

#include <heapwright/platform/thread.hpp>

#include <preload/instance.hpp>

extern "C" {
// Weak, because not every C library has them.
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
