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
#include <cstdint>
#include <string_view>

namespace heapwright {

/// What a heap reports of its own memory, in bytes. Each layer adds its share and calls the heap
/// below.
struct MemoryUsage {
    std::size_t mapped = 0;      ///< taken from the system and not returned, over all sources
    std::size_t direct = 0;      ///< the part of `mapped` that serves single large objects
    std::size_t directCount = 0; ///< number of such objects
    std::size_t held = 0;        ///< free, but kept by some layer for reuse
    std::size_t heldCount = 0;   ///< number of free blocks in `held`

    /// Heaps that several layers share. Such a heap registers here before it adds its figures, and
    /// adds them only if it was not registered.
    std::array<const void*, 8> shared = {};

    /// Registers `heap` and returns whether it is counted for the first time. Also true if there is
    /// no room to register it.
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

/// A measurable heap adds what it knows of its memory to `usage`.
template <class H>
concept MeasurableHeap = Heap<H> && requires(H heap, MemoryUsage& usage) {
    { heap.measure(usage) } -> std::same_as<void>;
};

/// An inspectable heap adds its figures to a snapshot: classes, caches, locks, requests to the
/// system.
/// Pre: the heap is quiescent (`beforeFork`), or no other thread uses it.
template <class H>
concept InspectableHeap = Heap<H> && requires(H heap, HeapSnapshot& snapshot) {
    { heap.inspect(snapshot) } -> std::same_as<void>;
};

/// A walkable heap calls a visitor with each live object. The visitor must not use the heap.
/// Pre: the heap is quiescent in the same way.
template <class H>
concept WalkableHeap = Heap<H> && requires(H heap, const ObjectVisitor& visit) {
    { heap.walk(visit) } -> std::same_as<void>;
};

/// A visitor of any type in `RunListingHeap`.
struct AnyRunVisitor {
    void operator()(void* run, std::size_t bytes, bool alone) const noexcept;
};

/// A run-listing heap calls a visitor with each run in use, its size, and whether it is alone in
/// its chunk.
/// Pre: the heap is quiescent in the same way.
template <class H>
concept RunListingHeap = Heap<H> && requires(H heap, AnyRunVisitor visit) {
    { heap.forEachRun(visit) } -> std::same_as<void>;
};

/// An owning heap distinguishes its own objects from those of other heaps. `owns` is true for any
/// address inside one of its objects.
template <class H>
concept OwningHeap = Heap<H> && requires(H heap, const void* object) {
    { heap.owns(object) } -> std::same_as<bool>;
};

/// An owning heap whose `owns` can be called through a constant reference.
template <class H>
concept ConstOwningHeap = OwningHeap<H> && requires(const H heap, const void* object) {
    { heap.owns(object) } -> std::same_as<bool>;
};

/// A heap that knows whether a live object is of the part that serves the calling thread now. It
/// takes no lock.
template <class H>
concept HomeHeap = Heap<H> && requires(H heap, void* object) {
    { heap.isHome(object) } -> std::same_as<bool>;
};

/// A marking heap reports an object as cached during a walk, from `mark` to `unmark`. A cache above
/// marks the objects that it keeps. `mark` returns false if the address is no object.
template <class H>
concept MarkingHeap = Heap<H> && requires(H heap, const void* object) {
    { heap.mark(object) } -> std::same_as<bool>;
    { heap.unmark() } -> std::same_as<void>;
};

/// A checking heap ends the program, with the name of a routine in the message, unless the object
/// is a live object of its own. Several threads may call it at once, each with an object that it
/// owns.
template <class H>
concept CheckingHeap = Heap<H> && requires(H heap, void* object, std::string_view routine) {
    { heap.check(object, routine) } -> std::same_as<void>;
};

/// For `checkRequest`: the caller does not know the size, or the alignment.
inline constexpr std::size_t anySize = SIZE_MAX;
inline constexpr std::size_t anyAlignment = 0;

/// A heap that knows each object's request. It ends the program, with the name of a routine in the
/// message, unless the object was requested with this size and this alignment. `anySize` and
/// `anyAlignment` fit every object. Alignments up to 16 are the same.
template <class H>
concept RequestCheckingHeap =
    Heap<H> && requires(H heap, void* object, std::size_t size, std::string_view routine) {
        { heap.checkRequest(object, size, size, routine) } -> std::same_as<void>;
    };

/// A heap that prints what it knows of the object at or beside an address. It returns false, and
/// prints nothing, if it knows none. A signal handler may call it.
template <class H>
concept DescribingHeap = Heap<H> && requires(H heap, int descriptor, const void* address) {
    { heap.describe(descriptor, address) } -> std::same_as<bool>;
};

/// A heap that reports the size of a live object without a lock. A signal handler needs this,
/// because the interrupted request may hold the lock.
template <class H>
concept UnlockedSizeHeap = Heap<H> && requires(H heap, void* object) {
    { heap.getSizeUnlocked(object) } -> std::same_as<std::size_t>;
};

} // namespace heapwright
