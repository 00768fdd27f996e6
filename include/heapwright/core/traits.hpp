// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The traits of a heap: properties that it states as constants, because no verb shows them. A
// concept names each trait, so that the compiler checks every use.
//
// A trait that is absent counts as false. If a layer does not state `uniform` or `stackDiscipline`,
// the heaps below decide.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>

#include <cstddef>

namespace heapwright {

/// A concurrent heap may be used by several threads at once. A lock makes it so. A layer without
/// state of its own states the value of the heap below.
template <class H>
concept ConcurrentHeap = Heap<H> && requires { requires H::concurrent; };

/// A heap that keeps no record of the objects that it returned. It accepts the objects of any heap
/// of its type. It frees them, knows their size, and keeps them beyond the life of the other heap.
template <class H>
concept ForeignFreeHeap = Heap<H> && requires { requires H::acceptsForeignObjects; };

/// A heap whose `owns` any thread may call at any time, without a lock.
template <class H>
concept LockFreeOwningHeap = OwningHeap<H> && requires { requires H::ownsLockFree; };

/// All objects of a uniquely named heap's type are faces of one heap (`UniqueHeap`).
template <class H>
concept UniquelyNamedHeap = Heap<H> && requires { requires H::unique; };

/// A face of a heap that lives elsewhere, `theHeap()`.
template <class H>
concept FaceHeap = UniquelyNamedHeap<H> && requires { H::theHeap(); };

/// A heap without memory of its own. It keeps freed objects and returns them again, or it declines
/// an object that it has no room for (`tryRetain`).
template <class H>
concept CacheOnlyHeap = HoldingHeap<H> && requires { requires H::cacheOnly; };

/// A heap that never has memory (`NullHeap`).
template <class H>
concept MemorylessHeap = Heap<H> && requires { requires H::memoryless; };

/// A heap whose state belongs to one process, so that the state cannot lie in memory that processes
/// share.
template <class H>
concept ProcessLocalHeap = Heap<H> && requires { requires H::processLocal; };

/// A heap whose newest object can grow in place into the memory that it takes next.
template <class H>
concept ContiguousHeap = Heap<H> && requires { requires H::contiguous; };

/// A source that registers its memory in the region map (structure/map/region_map.hpp).
template <class H>
concept RegionMappingHeap = Heap<H> && requires { requires H::mapsRegions; };

/// A heap that does not change the tag before an object. The tag stays as the layer that wrote it
/// left it (structure/object/tag.hpp).
template <class H>
concept TagPreservingHeap = Heap<H> && requires { requires H::tagged; };

/// A heap that serves a request of zero bytes with an object of its own.
template <class H>
concept EmptyRequestHeap = Heap<H> && requires { requires H::acceptsEmpty; };

/// A heap that names the heaps below it.
template <class H>
concept LayeredHeap = requires { typename H::Below; };

/// A heap with an exit hook of each thread. The hook uses the heap below, inside a `SlowPath`.
template <class H>
concept ThreadExitingHeap = Heap<H> && requires { requires H::runsAtThreadExit; };

/// A layer that states whether it is uniform, regardless of the heaps below.
template <class H>
concept StatesUniform = requires { H::uniform; };

/// A layer that states whether it has stack discipline, regardless of the heaps below.
template <class H>
concept StatesStackDiscipline = requires { H::stackDiscipline; };

/// The remainder of a heap's addresses modulo its alignment: 0 unless it states another.
template <class H>
inline constexpr std::size_t alignmentOffsetOf = 0;

template <class H>
    requires requires { H::alignmentOffset; }
inline constexpr std::size_t alignmentOffsetOf<H> = H::alignmentOffset;

/// The least size of an object that a heap can keep when it is freed, because its links need the
/// space. One word unless the heap states another size.
template <class H>
inline constexpr std::size_t leastObjectOf = sizeof(void*);

template <class H>
    requires requires { H::leastObject; }
inline constexpr std::size_t leastObjectOf<H> = H::leastObject;

/// The size of a heap's blocks; 0 if it has none.
template <class H>
inline constexpr std::size_t blockSizeOf = 0;

template <class H>
    requires requires { H::blockSize; }
inline constexpr std::size_t blockSizeOf<H> = H::blockSize;

/// The size of the units that contain a heap's objects; 0 if there are none.
template <class H>
inline constexpr std::size_t unitBytesOf = 0;

template <class H>
    requires requires { H::unitBytes; }
inline constexpr std::size_t unitBytesOf<H> = H::unitBytes;

namespace detail {

template <class H>
consteval bool isUniform();
template <class H>
consteval bool isStack();

template <class... B>
consteval bool anyUniform(Heaps<B...>) {
    return (isUniform<B>() || ...);
}
template <class... B>
consteval bool anyStack(Heaps<B...>) {
    return (isStack<B>() || ...);
}

template <class H>
consteval bool isUniform() {
    if constexpr (StatesUniform<H>) {
        return H::uniform;
    } else if constexpr (LayeredHeap<H>) {
        return anyUniform(typename H::Below{});
    } else {
        return false;
    }
}

template <class H>
consteval bool isStack() {
    if constexpr (StatesStackDiscipline<H>) {
        return H::stackDiscipline;
    } else if constexpr (LayeredHeap<H>) {
        return anyStack(typename H::Below{});
    } else {
        return false;
    }
}

} // namespace detail

/// A uniform heap gets requests for one size only, and serves each with any object that it holds.
template <class H>
inline constexpr bool uniformHeap = detail::isUniform<H>();

/// A heap with stack discipline takes objects back only in the opposite order of their making.
template <class H>
inline constexpr bool stackHeap = detail::isStack<H>();

/// A heap that accepts requests of any size at any time.
template <class H>
concept AnySizeHeap = Heap<H> && !uniformHeap<H>;

/// A heap that takes objects back in any order.
template <class H>
concept AnyOrderHeap = Heap<H> && !stackHeap<H>;

/// A heap whose objects start on multiples of 16, as most layers need.
template <class H>
concept MaxAlignedHeap = Heap<H> && H::alignment % minAlignment == 0 && alignmentOffsetOf<H> == 0;

} // namespace heapwright
