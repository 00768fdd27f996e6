// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The contract of a heap: variants of a single request. Each is a shortcut that some heaps can
// take; a caller without it uses the core verbs (core/concepts.hpp).
#pragma once

#include <heapwright/core/concepts.hpp>

#include <concepts>
#include <cstddef>

namespace heapwright {

/// A zeroing heap returns memory of zero bytes at less cost than a fill.
template <class H>
concept ZeroingHeap = Heap<H> && requires(H heap, std::size_t size) {
    { heap.zalloc(size) } -> std::same_as<void*>;
};

/// A relocating heap can move a large object to a new size by moving its pages, not its bytes. Null
/// means that it could not and that the object is unchanged.
template <class H>
concept RelocatingHeap = Heap<H> && requires(H heap, void* object, std::size_t size) {
    { heap.relocate(object, size) } -> std::same_as<void*>;
};

/// A phase-aligned heap can place an object at `phase` modulo `alignment`.
template <class H>
concept PhaseAlignedHeap =
    Heap<H> && requires(H heap, std::size_t size, std::size_t alignment, std::size_t phase) {
        { heap.mallocAt(size, alignment, phase) } -> std::same_as<void*>;
    };

/// A heap whose `free` accepts the size of the object from the caller.
template <class H>
concept SizedFreeHeap = Heap<H> && requires(H heap, void* object, std::size_t size) {
    { heap.free(object, size) } -> std::same_as<void>;
};

/// A heap that frees an object of known size at less cost. The size is what the heap's own
/// `getSize` returned, never one that the object stores or that a program states.
template <class H>
concept KnownSizeFreeHeap = SizedHeap<H> && requires(H heap, void* object, std::size_t usable) {
    { heap.freeKnown(object, usable) } -> std::same_as<void>;
};

/// A recycling heap distinguishes a reused object from a new one. It runs `recycle` on a reused
/// object. It returns a new object as the heap below made it.
template <class H>
concept RecyclingHeap = Heap<H> && requires(H heap, std::size_t size, void (*recycle)(void*)) {
    { heap.malloc(size, recycle) } -> std::same_as<void*>;
};

/// A heap that serves some call sites specially. `tryMallocFrom` gets the return address of the
/// program's request. It returns null for any other call site, and the caller then uses `malloc`.
/// `resolveSites` finds the call sites in the code that is loaded at that moment.
template <class H>
concept SitePredictingHeap = Heap<H> && requires(H heap, std::size_t size, const void* caller) {
    { heap.tryMallocFrom(size, caller) } -> std::same_as<void*>;
    { heap.resolveSites() } -> std::same_as<void>;
};

} // namespace heapwright
