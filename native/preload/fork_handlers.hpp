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
// The C library takes one more lock later: that of the list of all streams (stream_list.hpp). It is
// locked here, before the heap.
#pragma once

#include <pthread.h>

#include <heapwright/sync/futex_lock.hpp>

#include <preload/instance.hpp>
#include <preload/stream_list.hpp>

namespace heapwright::preload {

template <class Allocator>
class ForkHandlers {
public:
    static void install() { ::pthread_atfork(&before, &inParent, &inChild); }

private:
    /// Whether this thread's fork has locked the list of streams.
    static inline constinit thread_local bool streamsLocked = false;

    static void before() {
        FutexLock::passWake(); // a handler may fork
        streamsLocked = lockStreams();
        instance<Allocator>().beforeFork();
    }

    static void inParent() {
        instance<Allocator>().afterForkInParent();
        if (streamsLocked) {
            unlockStreams();
        }
    }

    static void inChild() { instance<Allocator>().afterForkInChild(); }
};

} // namespace heapwright::preload
