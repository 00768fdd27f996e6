// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The contract of a heap: bulk. Requests for several objects in one step, requests that are served
// from held memory only, and the verbs that return held memory.
#pragma once

#include <heapwright/core/concepts.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// The first word of an object in a chain of several (structure/object/object_chain.hpp).
struct ObjectLink;

/// A batching heap returns a chain of up to `count` objects in one step, and takes any chain back
/// in one step. The first word of each object is the address of the next, and null in the last.
/// Sizes are at least one word.
template <class H>
concept BatchingHeap =
    Heap<H> && requires(H heap, std::size_t size, std::size_t count, ObjectLink* chain) {
        { heap.mallocBatch(size, count) } -> std::same_as<ObjectLink*>;
        { heap.freeBatch(chain) } -> std::same_as<void>;
    };

/// A holding heap can serve a request from memory that it holds. It then never calls the heap
/// below.
template <class H>
concept HoldingHeap = Heap<H> && requires(H heap, std::size_t size) {
    { heap.mallocHeld(size) } -> std::same_as<void*>;
};

/// An aligned heap that serves aligned requests from held memory in the same way.
template <class H>
concept AlignedHoldingHeap =
    AlignedHeap<H> && requires(H heap, std::size_t alignment, std::size_t size) {
        { heap.memalignHeld(alignment, size) } -> std::same_as<void*>;
    };

/// A caller can request that a retaining heap keeps a freed object. It returns false where it would
/// hand the object down; the object then still belongs to the caller.
template <class H>
concept RetainingHeap = HoldingHeap<H> && requires(H heap, void* object) {
    { heap.tryRetain(object) } -> std::same_as<bool>;
};

/// An area heap returns the rest of a chunk, at least `least` bytes, to a caller that carves it. It
/// stores the size in `granted`.
template <class H>
concept AreaHeap = Heap<H> && requires(H heap, std::size_t least, std::size_t& granted) {
    { heap.mallocArea(least, granted) } -> std::same_as<void*>;
};

/// A flushable heap can return all freed objects that it keeps to the heap below, where they may
/// merge. It returns true if there were any.
template <class H>
concept FlushableHeap = Heap<H> && requires(H heap) {
    { heap.flush() } -> std::same_as<bool>;
};

/// A trimmable heap returns free memory to the system, except `pad` bytes. It returns true if it
/// released any.
template <class H>
concept TrimmableHeap = Heap<H> && requires(H heap, std::size_t pad) {
    { heap.trim(pad) } -> std::same_as<bool>;
};

/// A purgeable heap returns to the system the memory whose retention time has expired. It returns
/// the milliseconds until the next call is due, or UINT32_MAX if none is.
template <class H>
concept PurgeableHeap = Heap<H> && requires(H heap) {
    { heap.purgeExpired() } -> std::same_as<std::uint32_t>;
};

} // namespace heapwright
