// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Another thread with another heap, for the tests of private heaps.
#pragma once

#include <heapwright/sync/thread_slot.hpp>

#include <cstddef>
#include <thread>

namespace heapwright::testing {

/// Runs `body` on a thread that has not the calling thread's heap, of `heaps` that threads share.
template <class Body>
void elsewhere(std::size_t heaps, Body body, std::size_t mine) {
    std::thread([&] {
        if (threadSlot() % heaps != mine) {
            body();
        } else { // a thread that is started while this one lives has another slot
            elsewhere(heaps, body, mine);
        }
    }).join();
}

template <class Body>
void elsewhere(std::size_t heaps, Body body) {
    elsewhere(heaps, body, threadSlot() % heaps);
}

} // namespace heapwright::testing
