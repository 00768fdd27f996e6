// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The work of cache-thrash and cache-scratch on an object: repeated reads and writes. If another
// thread does the same in the same cache line, each write takes the line from the other core.
#pragma once

#include "calls.hpp"
#include "observers.hpp"

#include <cstdint>

namespace heapwright::workloads {

/// Reads and writes an object's bytes `times` times. Under verification the observers own its
/// contents, and it is only read.
inline void rewriteBytes(void* object, std::uint64_t size, std::uint64_t times) {
    volatile char* const bytes = static_cast<char*>(object);
    const bool writing = !contentsAreOurs;
    std::uint64_t at = 0;
    for (std::uint64_t each = 0; each < times; ++each) {
        const char read = bytes[at];
        if (writing) {
            bytes[at] = static_cast<char>(read + 1);
        }
        at = at + 1 == size ? 0 : at + 1;
    }
}

/// The loop of both: `iterations` times allocate, rewriteBytes, free.
inline void thrash(std::uint64_t iterations, std::uint64_t size, std::uint64_t times,
                   ObservedBarrier& barrier) {
    for (std::uint64_t each = 0; each < iterations; ++each) {
        void* const object = allocate(size);
        barrier.wait();
        rewriteBytes(object, size, times);
        release(object);
    }
}

} // namespace heapwright::workloads
