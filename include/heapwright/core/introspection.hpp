// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The contract of a heap: introspection. What a heap reports of its memory, its structures and its
// objects, and whether an address is one of its objects.
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/heap_snapshot.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

namespace heapwright {

/// What a heap knows of its own memory, in bytes. Each layer adds its share on the way down.
struct MemoryUsage {
    std::size_t mapped = 0;      ///< taken from the system and not given back, all sources together
    std::size_t direct = 0;      ///< the part of `mapped` that serves single large objects
    std::size_t directCount = 0; ///< how many such objects there are
    std::size_t held = 0;        ///< free, but kept by some layer for reuse
    std::size_t heldCount = 0;   ///< how many free blocks that is

    /// Heaps that several layers share. Such a heap registers here before it adds its figures, and
    /// adds them only if it was not registered.
    std::array<const void*, 8> shared = {};

    /// Whether `heap` is counted for the first time. Also true if there is no room to register it.
    constexpr bool firstVisit(const void* heap) noexcept {
        for (const void*& entry : shared) {
            if (entry == heap) {
                return false;
            }
            if (entry == nullptr) {
                entry = heap;
                return true;
            }
        }
        return true;
    }
};

/// A measurable heap adds what it knows of its memory to a usage.
template <class H>
concept MeasurableHeap = Heap<H> && requires(H heap, MemoryUsage& usage) {
    { heap.measure(usage) } -> std::same_as<void>;
};

/// An inspectable heap adds its figures to a snapshot: classes, caches, locks, requests to the
/// system. Pre: the heap is quiescent (`beforeFork`), or no other thread uses it.
template <class H>
concept InspectableHeap = Heap<H> && requires(H heap, HeapSnapshot& snapshot) {
    { heap.inspect(snapshot) } -> std::same_as<void>;
};

/// A walkable heap shows each live object to a visitor, which must not use the heap. Pre: the heap
/// is quiescent in the same way.
template <class H>
concept WalkableHeap = Heap<H> && requires(H heap, const ObjectVisitor& visit) {
    { heap.walk(visit) } -> std::same_as<void>;
};

/// Stands for any visitor of runs in `RunListingHeap`.
struct AnyRunVisitor {
    void operator()(void* run, std::size_t bytes, bool alone) const noexcept;
};

/// A run-listing heap shows each run in use, its size, and whether it is alone in its chunk. Pre:
/// the heap is quiescent in the same way.
template <class H>
concept RunListingHeap = Heap<H> && requires(H heap, AnyRunVisitor visit) {
    { heap.forEachRun(visit) } -> std::same_as<void>;
};

/// An owning heap tells its own objects from those of other heaps: true of any address inside one.
template <class H>
concept OwningHeap = Heap<H> && requires(H heap, const void* object) {
    { heap.owns(object) } -> std::same_as<bool>;
};

/// An owning heap that can be asked through a constant reference.
template <class H>
concept ConstOwningHeap = OwningHeap<H> && requires(const H heap, const void* object) {
    { heap.owns(object) } -> std::same_as<bool>;
};

/// A marking heap shows an object, during a walk, as one that a cache above keeps, from `mark` to
/// `unmark`. `mark` returns false if the address is no object.
template <class H>
concept MarkingHeap = Heap<H> && requires(H heap, const void* object) {
    { heap.mark(object) } -> std::same_as<bool>;
    { heap.unmark() } -> std::same_as<void>;
};

/// A checking heap ends the program, in the name of a routine, unless the object is a live object
/// of its own. Several threads may ask at once, each about an object that it owns.
template <class H>
concept CheckingHeap = Heap<H> && requires(H heap, void* object, std::string_view routine) {
    { heap.check(object, routine) } -> std::same_as<void>;
};

/// A heap that knows the size of a live object without a lock, for a caller that may hold the lock
/// itself: a signal handler.
template <class H>
concept UnlockedSizeHeap = Heap<H> && requires(H heap, void* object) {
    { heap.getSizeUnlocked(object) } -> std::same_as<std::size_t>;
};

} // namespace heapwright
