// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The heap of granary, walked by its units of 32 KiB. The first unit of a superblock or a large
// object begins with a header. A superblock is recognised by its layout, which follows from its
// slot size. A large object is recognised by the mark of its state.
// Objects in the caches of threads count as live, because only the thread knows its cache.
// Source: structure/superblock/superblock.hpp and layers/object/unit_object_heap.hpp.
// Cost: 64 bytes read of each unit whose first page is resident.
#pragma once

#include "heap.hpp"

#include <optional>

namespace heapwright::look {

struct GranaryAccount {
    std::uint64_t superblocks = 0;
    std::uint64_t emptySuperblocks = 0;
    Blocks small;                ///< bytes of their slots
    Blocks large;                ///< capacities
    std::uint64_t freeSlots = 0; ///< bytes of free slots in superblocks that hold objects
    std::uint64_t resident = 0;  ///< of superblocks with objects, and of large objects
};

/// Nothing if no unit is recognised.
std::optional<GranaryAccount> findGranary(const Image& image);

} // namespace heapwright::look
