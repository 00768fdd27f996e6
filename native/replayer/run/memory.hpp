// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the replay's own: tables, histograms, commands. It is mapped, so that the allocator
// under test never sees it. It is touched before the clock starts, so that the other resident
// memory is known to the page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::replayer {

/// Zeroed pages for the rest of the process's life; leaves if there are none.
void* mapPages(std::size_t bytes);

template <class T>
T* mapArray(std::size_t count) {
    return static_cast<T*>(mapPages((count == 0 ? 1 : count) * sizeof(T)));
}

/// Hands out arrays from larger pieces of such pages, so that ten thousand threads' small tables
/// do not take a page each.
class OwnMemory {
public:
    template <class T>
    T* array(std::size_t count) {
        return static_cast<T*>(take(count * sizeof(T)));
    }

private:
    void* take(std::size_t bytes);

    char* at_ = nullptr;
    std::size_t left_ = 0;
};

/// The memory that `mapPages` returned, and that `countAsOwn` received.
std::size_t ownBytes();
void countAsOwn(std::size_t bytes);

/// What the kernel says of the process.
struct Resident {
    std::size_t peak; ///< the most bytes that were ever resident
    std::size_t file; ///< resident pages of files and of shared memory, now
};
Resident resident();

} // namespace heapwright::replayer
