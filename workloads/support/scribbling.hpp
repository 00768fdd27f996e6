// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What cache-thrash and cache-scratch do with an object: read and write it, over and over. If
// another thread does the same in the same cache line, each write takes the line away from the
// other.
#pragma once

#include "calls.hpp"
#include "watch.hpp"

#include <cstdint>

namespace heapwright::workloads {

/// Reads and writes an object's bytes `times` times. Under verification its contents are not ours
/// to write, and it is only read.
inline void scribble(void* object, std::uint64_t size, std::uint64_t times) {
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

/// The loop of both: `iterations` times allocate, scribble, free.
inline void thrash(std::uint64_t iterations, std::uint64_t size, std::uint64_t times,
                   Meeting& meeting) {
    for (std::uint64_t each = 0; each < iterations; ++each) {
        void* const object = allocate(size);
        meeting.wait();
        scribble(object, size, times);
        release(object);
    }
}

} // namespace heapwright::workloads
