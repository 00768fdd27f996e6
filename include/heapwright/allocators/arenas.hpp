// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for a scope, as objects of a C++ program: a region, whose objects go together; a reap,
// whose objects can also be freed one by one; the same for several threads, small or, where many
// are busy in it at once, made for that. Each may be inside another of its kind, and each is a
// `std::pmr::memory_resource`.
#pragma once

#include <heapwright/adaptor/nested_resource.hpp>
#include <heapwright/allocators/nested_reap.hpp>
#include <heapwright/allocators/reap_hoard.hpp>
#include <heapwright/allocators/spare_chunks.hpp>
#include <heapwright/heap.hpp>

namespace heapwright {

namespace allocators::arenas {
using Chunks = RegionHeap<8 * KiB, 1 * MiB, SpareChunks>; // larger and larger
using NestedRegion = NestedHeap<Chunks>;                  // one inside another
using OneThreads = NestedReap<SpareChunks>;               // its objects can be freed
using ManyThreads = SharedReap<SpareChunks>;              // by any of them
} // namespace allocators::arenas

using Region = NestedResource<allocators::arenas::NestedRegion>;
using Reap = NestedResource<allocators::arenas::OneThreads>;
using SharedReap = NestedResource<allocators::arenas::ManyThreads>;
using HoardReap = NestedResource<allocators::ReapHoard>;

} // namespace heapwright
