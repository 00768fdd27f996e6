// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Another thread with another heap, for the tests of private heaps.
#pragma once

#include <heapwright/platform/thread.hpp>

#include <cstddef>
#include <thread>

namespace heapwright::testing {

/// Runs `body` on a thread that has not the calling thread's heap, of `heaps` that threads share.
template <class Body>
void elsewhere(std::size_t heaps, Body body) {
    const std::size_t mine = platform::threadNumber() % heaps;
    bool ran = false;
    while (!ran) {
        std::thread([&] {
            if (platform::threadNumber() % heaps != mine) {
                body();
                ran = true;
            }
        }).join();
    }
}

} // namespace heapwright::testing
