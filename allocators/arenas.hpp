// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for a scope, as objects of a C++ program: a region, whose objects go together; a reap,
// whose objects can also be freed one by one; a reap for several threads. Each may be inside
// another of its kind, and each is a `std::pmr::memory_resource`. Memory comes from malloc.
#pragma once

#include <allocators/nested_reap.hpp>
#include <heapwright/adaptor/nested_resource.hpp>
#include <heapwright/heap.hpp>

namespace heapwright {

namespace arenas {
using Chunks = RegionHeap<8 * KiB, 1 * MiB, MallocHeap>; // larger and larger
using NestedRegion = NestedHeap<Chunks>;                 // one inside another
} // namespace arenas

using Region = NestedResource<arenas::NestedRegion>;
using Reap = NestedResource<allocators::NestedReap<MallocHeap>>;
using SharedReap = NestedResource<allocators::SharedReap<MallocHeap>>;

} // namespace heapwright
