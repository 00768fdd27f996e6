// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The fast-path protocol, private to the caches and the layers between them and an allocator's
// entry points. A fast path takes no lock and does not call the heap below. It uses a state of the
// thread and refuses every other request.
//
//   tryMallocFast ── null ──▶ mallocSlow        tryFreeFast ── false ──▶ freeSlow
//
// Owner tags let a cache above keep an object whose unit belongs to the calling thread
// (structure/cache/owner_tag.hpp).
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// A fast-path heap can try a request without a lock and without the heap below. If it would need
/// more, it returns null or false and changes nothing.
template <class H>
concept FastPathHeap = Heap<H> && requires(H heap, std::size_t size, void* object) {
    { heap.tryMallocFast(size) } -> std::same_as<void*>;
    { heap.tryFreeFast(object) } -> std::same_as<bool>;
};

/// A heap that knows the sizes of some objects without a lock and without the heap below. A signal
/// handler may ask at any time. The size of any other object is 0.
template <class H>
concept FastSizeHeap = Heap<H> && requires(H heap, void* object) {
    { heap.tryGetSizeFast(object) } -> std::same_as<std::size_t>;
};

/// A heap that can try a request of any size, 0 too, without a call. Null means that the caller
/// must use `malloc`.
template <class H>
concept AtOnceHeap = Heap<H> && requires(H heap, std::size_t size) {
    { heap.mallocAtOnce(size) } -> std::same_as<void*>;
};

/// A heap whose fast path reports the usable size of a new object too. This costs less than a
/// `getSize` of that object. Null means that the caller must use `malloc`.
template <class H>
concept FastKnownMallocHeap =
    SizedHeap<H> && requires(H heap, std::size_t size, std::size_t& usable) {
        { heap.tryMallocKnown(size, usable) } -> std::same_as<void*>;
    };

/// A heap that frees an object at less cost if `tryGetSizeFast` has just reported its size, of 16
/// to `mostKnownFast` bytes.
template <class H>
concept FastKnownFreeHeap = FastSizeHeap<H> && requires(H heap, void* object, std::size_t usable) {
    { H::mostKnownFast } -> std::convertible_to<std::size_t>;
    { heap.freeKnownFast(object, usable) } -> std::same_as<void>;
};

/// A split-path heap accepts any size, 0 too, and a null object on its fast path, so the caller
/// need not test for them. A refused request goes to the slow verbs, which do not try again what
/// has just failed.
template <class H>
concept SplitPathHeap = FastPathHeap<H> && requires(H heap, std::size_t size, void* object) {
    requires H::splitPath;
    { heap.mallocSlow(size) } -> std::same_as<void*>;
    { heap.freeSlow(object) } -> std::same_as<void>;
};

/// The fast path of a suspendable heap uses a state of the thread. Other code may replace the state
/// by `ThreadState{}` while a signal handler runs; the fast path then refuses everything. Its
/// memory is in units (structure/signal/).
template <class H>
concept SuspendableHeap = SplitPathHeap<H> && requires {
    typename H::ThreadState;
    { H::threadState() } -> std::same_as<typename H::ThreadState&>;
    { H::unitBytes } -> std::convertible_to<std::size_t>;
};

/// A heap whose owner tag can permit some objects of a unit and not others (`mayCache`). The fast
/// path refuses all of them. This verb caches a permitted one without the heap below, and also an
/// object of another thread that will be sent to it.
template <class H>
concept SharedUnitCachingHeap = FastPathHeap<H> && requires(H heap, void* object) {
    { heap.freeAmongOthers(object) } -> std::same_as<bool>;
};

/// A heap that is notified before and after a signal handler that may have interrupted it. A
/// handler's part of the stack is a template parameter, so `beforeHandler` is not stated here.
template <class H>
concept HandlerNotifiedHeap = Heap<H> && requires(const typename H::BeforeHandler& before) {
    { H::inRequest() } -> std::same_as<bool>;
    { H::afterHandler(before) } -> std::same_as<void>;
};

/// A heap that knows which addresses have an owner tag, and the size class of such objects.
template <class H>
concept TaggedClassHeap = Heap<H> && requires(H heap, const void* object) {
    { heap.hasOwnerTag(object) } -> std::same_as<bool>;
    { heap.classAt(object) } -> std::same_as<std::size_t>;
};

/// The objects of an owner-tagged heap lie in units. The first word of a unit is the tag of the
/// thread whose cache may keep a freed object of the unit. Any thread may read it. The heap knows
/// the calling thread's own tag. `mallocOwned` returns a chain of such objects with the given end,
/// and sets `number` to its length. `freeOwned` frees the first `number` objects of a chain with
/// the given end, and returns the rest. `adopt` gives the calling thread the unit of an object
/// whose thread has ended; false if it cannot. `sendOwned` frees a chain of `number` objects of
/// other threads, and `collectSent` returns what others have sent to the calling thread.
/// `earnsOwnerTag` notes a request of a thread without a cache. It returns whether the thread may
/// now get a tag (`ownerTagOfThread`).
template <class H>
concept OwnerTaggedHeap =
    TaggedClassHeap<H> && requires(H heap, const void* object, std::size_t size,
                                   std::size_t& granted, std::size_t number, ObjectLink* chain) {
        { H::unitBytes } -> std::convertible_to<std::size_t>;
        { heap.ownerTagOf(object) } -> std::same_as<std::uint64_t>;
        { heap.mayCache(object) } -> std::same_as<bool>;
        { heap.mallocOwned(size, granted, chain) } -> std::same_as<ObjectLink*>;
        { heap.freeOwned(chain, number, chain) } -> std::same_as<ObjectLink*>;
        { heap.adopt(object) } -> std::same_as<bool>;
        { heap.sendOwned(chain, number) } -> std::same_as<void>;
        { heap.collectSent() } -> std::same_as<ObjectLink*>;
        { heap.releaseOwnership() } -> std::same_as<void>;
        { heap.earnsOwnerTag() } -> std::same_as<bool>;
        { heap.ownerTagOfThread() } -> std::same_as<std::uint64_t>;
    };

} // namespace heapwright
