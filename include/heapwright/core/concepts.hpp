// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The core contract of a heap. A heap is any type with `malloc` and `free`. Each further capability
// is one more verb, and one concept declares it. A layer states with concepts what it needs from
// the heap below, so a wrong stack fails with one readable line.
//
// Further tiers: Variants of a request are in core/requests.hpp. Several objects, held memory and
// the return of memory are in core/bulk.hpp. Reports of a heap are in core/introspection.hpp, its
// statements about itself in core/traits.hpp. Forks and handlers are in core/fork_and_signals.hpp.
// The fast path (structure/cache/fast_path.hpp) is private to the caches.
//
// Invariants that no concept can state:
//  - `malloc` returns null when there is no memory. Every layer passes a null up untouched.
//  - `malloc(n)` for n > 0 returns n bytes or more, with any contents. Modulo `H::alignment` the
//    address is `alignmentOffsetOf<H>`, which is 0 except below a layer that writes a header.
//  - `free` takes a live object of this very heap, never null.
//  - The destructor returns all memory of the heap to the heap below.
//  - Layers inherit privately. A verb exists above a layer only if the layer names it.
#pragma once

#include <concepts>
#include <cstddef>

namespace heapwright {

/// A heap gives out memory and takes it back. It returns null when it has none and never throws.
template <class H>
concept Heap = requires(H heap, std::size_t size, void* object) {
    { H::alignment } -> std::convertible_to<std::size_t>;
    { heap.malloc(size) } -> std::same_as<void*>;
    requires noexcept(heap.malloc(size));
    { heap.free(object) } -> std::same_as<void>;
};

/// A sized heap knows the usable size of an object in bytes.
template <class H>
concept SizedHeap = Heap<H> && requires(H heap, void* object) {
    { heap.getSize(object) } -> std::same_as<std::size_t>;
};

/// An aligned heap honours any power-of-two alignment.
template <class H>
concept AlignedHeap = Heap<H> && requires(H heap, std::size_t alignment, std::size_t size) {
    { heap.memalign(alignment, size) } -> std::same_as<void*>;
};

/// A resizable heap can try to grow or shrink an object in place.
template <class H>
concept ResizableHeap = Heap<H> && requires(H heap, void* object, std::size_t size) {
    { heap.resize(object, size) } -> std::same_as<bool>;
};

/// A clearable heap takes back, in one step, everything that it has handed out or holds.
template <class H>
concept ClearableHeap = Heap<H> && requires(H heap) {
    { heap.clear() } -> std::same_as<void>;
};

} // namespace heapwright
