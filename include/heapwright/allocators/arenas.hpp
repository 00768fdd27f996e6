// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for a scope, as C++ objects. The objects of a region are freed together. The objects of a
// reap can also be freed one by one. Two kinds of reaps serve several threads: a small one with one
// lock, and a larger one for many threads at once. Each can be nested in another of its kind, and
// each is a `std::pmr::memory_resource`.
#pragma once

#include <heapwright/adaptor/nested_resource.hpp>
#include <heapwright/allocators/nested_reap.hpp>
#include <heapwright/allocators/reap_hoard.hpp>
#include <heapwright/allocators/spare_chunks.hpp>
#include <heapwright/heap.hpp>

namespace heapwright {

namespace allocators::arenas {
using Chunks = RegionHeap<8 * KiB, 1 * MiB, SpareChunks>; // chunks that double in size
using NestedRegion = NestedHeap<Chunks>;                  // with regions inside
using OneThreads = NestedReap<SpareChunks>;               // objects can be freed one by one
using ManyThreads = SharedReap<SpareChunks>;              // the same, with a lock
} // namespace allocators::arenas

using Region = NestedResource<allocators::arenas::NestedRegion>;
using Reap = NestedResource<allocators::arenas::OneThreads>;
using SharedReap = NestedResource<allocators::arenas::ManyThreads>;
using HoardReap = NestedResource<allocators::ReapHoard>;

} // namespace heapwright
