// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The programs' own memory: tables, slots, logs. It is mapped, so that the allocator under test
// does not see it, and touched at once, so that its resident size is known exactly.
#pragma once

#include <cstddef>

namespace heapwright::workloads {

/// Zeroed pages. Exits through `noMemory` on failure.
void* mapPages(std::size_t bytes);
void unmapPages(void* pages, std::size_t bytes);

/// `count` zeroed Ts for the rest of the process.
template <class T>
T* mapArray(std::size_t count) {
    return static_cast<T*>(mapPages((count == 0 ? 1 : count) * sizeof(T)));
}

/// The bytes mapped by `mapPages` and not unmapped.
std::size_t mappedBytes();

/// The resident bytes of the process, without the program's own. Some hundred KiB may be missing:
/// page faults that the kernel has not yet added up over the processors.
std::size_t residentBytes();

/// The peak of all resident bytes.
std::size_t peakResidentBytes();

} // namespace heapwright::workloads
