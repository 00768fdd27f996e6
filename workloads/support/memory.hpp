// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the programs' own: tables, slots, logs. It is mapped, so that the allocator under test
// never sees it, and touched at once, so that what is resident besides it is known to the page.
#pragma once

#include <cstddef>

namespace heapwright::workloads {

/// Zeroed pages; the process leaves with `noMemory` if there are none.
void* mapPages(std::size_t bytes);
void unmapPages(void* pages, std::size_t bytes);

/// `count` zeroed Ts for the rest of the process's life.
template <class T>
T* mapArray(std::size_t count) {
    return static_cast<T*>(mapPages((count == 0 ? 1 : count) * sizeof(T)));
}

/// What `mapPages` has given out and not got back.
std::size_t mappedBytes();

/// Resident bytes of the process now, without those that are the program's own. Some hundred KiB
/// may be missing: page faults that the kernel has not yet added up over the processors.
std::size_t residentBytes();

/// The most bytes that were ever resident, of whatever kind.
std::size_t peakResidentBytes();

} // namespace heapwright::workloads
