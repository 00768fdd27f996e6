// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The contract of a heap, verb by verb. A heap is any type with `malloc` and `free`; every further
// capability is the presence of one more verb, and each concept below names exactly one. A layer
// states with them what it needs from the heap under it, so that a stack put together wrongly fails
// in one readable line.
//
// Invariants that no concept can state:
//  - `malloc` answers null when there is no memory, and every layer passes a null upward untouched.
//  - `malloc(n)` for n > 0 gives at least n bytes at an address that is `alignmentOffsetOf<H>`
//  modulo
//    `H::alignment`; the phase is 0 everywhere but below a layer that writes a header.
//  - `free` takes any pointer that this very heap gave out and that is still live, never null.
//  - the destructor returns everything that the heap holds to the heap below it.
//  - a verb that a layer does not answer itself does not exist above it: layers inherit privately,
//    and pass a verb on only by writing it down.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/heap_snapshot.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

/// What a heap knows of its own memory, in bytes, gathered rung by rung on the way down.
struct MemoryUsage {
    std::size_t mapped = 0;      ///< taken from the system and not given back, all sources together
    std::size_t direct = 0;      ///< the part of `mapped` that serves single large objects
    std::size_t directCount = 0; ///< how many such objects there are
    std::size_t held = 0;        ///< free, but kept by some rung for reuse
    std::size_t heldCount = 0;   ///< how many free blocks that is

    /// Heaps that several rungs share enter themselves here before they add what they know, and do
    /// so only if they are not there yet. There is room for a few.
    std::array<const void*, 8> shared = {};

    /// Whether `heap` is counted here for the first time. (When there is no room it says yes.)
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

/// The first word of an object on its way in a chain of several
/// (structure/object/object_chain.hpp).
struct ObjectLink;

/// A heap gives out memory and takes it back. It answers null when it has none and never throws.
template <class H>
concept Heap = requires(H heap, std::size_t size, void* object) {
    { H::alignment } -> std::convertible_to<std::size_t>;
    { heap.malloc(size) } -> std::same_as<void*>;
    requires noexcept(heap.malloc(size));
    { heap.free(object) } -> std::same_as<void>;
};

/// A sized heap knows how many bytes of an object may be used.
template <class H>
concept SizedHeap = Heap<H> && requires(H heap, void* object) {
    { heap.getSize(object) } -> std::same_as<std::size_t>;
};

/// A clearable heap gives back, in one step, everything it has handed out or holds.
template <class H>
concept ClearableHeap = Heap<H> && requires(H heap) {
    { heap.clear() } -> std::same_as<void>;
};

/// An aligned heap honours any power-of-two alignment.
template <class H>
concept AlignedHeap = Heap<H> && requires(H heap, std::size_t alignment, std::size_t size) {
    { heap.memalign(alignment, size) } -> std::same_as<void*>;
};

/// A zeroing heap gives out memory that is known to be all zero bytes, at less cost than a fill.
template <class H>
concept ZeroingHeap = Heap<H> && requires(H heap, std::size_t size) {
    { heap.zalloc(size) } -> std::same_as<void*>;
};

/// A resizable heap can try to grow or shrink an object where it stands.
template <class H>
concept ResizableHeap = Heap<H> && requires(H heap, void* object, std::size_t size) {
    { heap.resize(object, size) } -> std::same_as<bool>;
};

/// A relocating heap can move a large object to a new size by moving its pages, not its bytes;
/// null means that it could not and that nothing has changed.
template <class H>
concept RelocatingHeap = Heap<H> && requires(H heap, void* object, std::size_t size) {
    { heap.relocate(object, size) } -> std::same_as<void*>;
};

/// A holding heap can be asked for memory that it already holds, and then never asks below.
template <class H>
concept HoldingHeap = Heap<H> && requires(H heap, std::size_t size) {
    { heap.mallocHeld(size) } -> std::same_as<void*>;
};

/// An aligned heap can be asked in the same way.
template <class H>
concept AlignedHoldingHeap =
    AlignedHeap<H> && requires(H heap, std::size_t alignment, std::size_t size) {
        { heap.memalignHeld(alignment, size) } -> std::same_as<void*>;
    };

/// An area heap gives out all that it has left of a chunk, `least` bytes or more, to who carves by
/// itself, and says how much that is.
template <class H>
concept AreaHeap = Heap<H> && requires(H heap, std::size_t least, std::size_t& granted) {
    { heap.mallocArea(least, granted) } -> std::same_as<void*>;
};

/// A declining heap can be asked to keep a freed object, and says no where it would hand it down:
/// then the object is still its owner's.
template <class H>
concept RetainingHeap = HoldingHeap<H> && requires(H heap, void* object) {
    { heap.tryRetain(object) } -> std::same_as<bool>;
};

/// A flushable heap can hand all freed objects that it keeps to the heap below it, where they may
/// merge; true if there were any.
template <class H>
concept FlushableHeap = Heap<H> && requires(H heap) {
    { heap.flush() } -> std::same_as<bool>;
};

/// A prompt heap can be asked to serve, or to take back, what it can at once, without a lock and
/// without the heap below; where it would need more it answers null, or false, and has done
/// nothing.
template <class H>
concept FastPathHeap = Heap<H> && requires(H heap, std::size_t size, void* object) {
    { heap.tryMallocFast(size) } -> std::same_as<void*>;
    { heap.tryFreeFast(object) } -> std::same_as<bool>;
};

/// A splitPath prompt heap may be asked at once for any size, 0 too, and to take null back at once:
/// it refuses these as it does all else that it cannot do. So who is above need not look first.
/// What was refused is then asked of two more verbs, which do not try again what has just failed.
template <class H>
concept SplitPathHeap = FastPathHeap<H> && requires(H heap, std::size_t size, void* object) {
    requires H::splitPath;
    { heap.mallocSlow(size) } -> std::same_as<void*>;
    { heap.freeSlow(object) } -> std::same_as<void>;
};

/// What a hideable heap does at once goes by a state of the thread, which others may move out of
/// the way while a signal handler runs: with `ThreadState{}` in its place the heap does nothing at
/// once. Its memory is in units (structure/signal/handler_arena.hpp).
template <class H>
concept SuspendableHeap = SplitPathHeap<H> && requires {
    typename H::ThreadState;
    { H::threadState() } -> std::same_as<typename H::ThreadState&>;
    { H::unitBytes } -> std::convertible_to<std::size_t>;
};

/// A batching heap gives out several objects in one step, `count` at most, and takes any back in
/// one. Each begins with the address of the next, the last with null: sizes are a word at least.
template <class H>
concept BatchingHeap =
    Heap<H> && requires(H heap, std::size_t size, std::size_t count, ObjectLink* chain) {
        { heap.mallocBatch(size, count) } -> std::same_as<ObjectLink*>;
        { heap.freeBatch(chain) } -> std::same_as<void>;
    };

/// A homing heap has its objects in units whose first word, which any thread may read, says for
/// which thread a cache above may keep the object when it is freed; it knows which of any addresses
/// have one, the calling thread's own, and the size class of such objects. It gives a chain of them
/// in one step and says how many there are, and takes as many back of one as it is told; what is
/// left is the answer (structure/cache/owner_tag.hpp).
template <class H>
concept OwnerTaggedHeap = Heap<H> && requires(H heap, const void* object, std::size_t size,
                                              std::size_t number, ObjectLink* chain) {
    { H::unitBytes } -> std::convertible_to<std::size_t>;
    { heap.ownerTagOf(object) } -> std::same_as<std::uint64_t>;
    { heap.hasOwnerTag(object) } -> std::same_as<bool>;
    { heap.mayCache(object) } -> std::same_as<bool>;
    { heap.mallocOwned(size, number) } -> std::same_as<ObjectLink*>;
    { heap.freeOwned(chain, number) } -> std::same_as<ObjectLink*>;
    { heap.releaseOwnership() } -> std::same_as<void>;
    { heap.ownerTagOfThread() } -> std::same_as<std::uint64_t>;
    { heap.classAt(object) } -> std::same_as<std::size_t>;
};

/// A recycling heap tells an object that it hands out again from a new one: it runs what it is
/// given on the former, and the latter is as the heap below made it.
template <class H>
concept RecyclingHeap = Heap<H> && requires(H heap, std::size_t size, void (*recycle)(void*)) {
    { heap.malloc(size, recycle) } -> std::same_as<void*>;
};

/// A trimmable heap returns what it can to the system, keeping `pad` bytes; true if it returned
/// any.
template <class H>
concept TrimmableHeap = Heap<H> && requires(H heap, std::size_t pad) {
    { heap.trim(pad) } -> std::same_as<bool>;
};

/// A tended heap returns to the system what has been free for as long as it was to be kept, when it
/// is told to look; it answers in how many milliseconds it should be told again, or UINT32_MAX if
/// nothing waits for that.
template <class H>
concept PurgeableHeap = Heap<H> && requires(H heap) {
    { heap.purgeExpired() } -> std::same_as<std::uint32_t>;
};

/// A measurable heap adds what it knows of its memory to a usage.
template <class H>
concept MeasurableHeap = Heap<H> && requires(H heap, MemoryUsage& usage) {
    { heap.measure(usage) } -> std::same_as<void>;
};

/// An inspectable heap adds its figures to an snapshot: of classes, caches, locks, and what was
/// asked of the system. It is held still meanwhile (`beforeFork`), or nobody else is inside.
template <class H>
concept InspectableHeap = Heap<H> && requires(H heap, HeapSnapshot& snapshot) {
    { heap.inspect(snapshot) } -> std::same_as<void>;
};

/// A walkable heap shows each object that it has given out, held still in the same way. Who is
/// shown them must not use the heap meanwhile.
template <class H>
concept WalkableHeap = Heap<H> && requires(H heap, const ObjectVisitor& visit) {
    { heap.walk(visit) } -> std::same_as<void>;
};

/// A forkable heap can be held still while the process forks, and set going again on both sides.
template <class H>
concept ForkableHeap = Heap<H> && requires(H heap) {
    { heap.beforeFork() } -> std::same_as<void>;
    { heap.afterForkInParent() } -> std::same_as<void>;
    { heap.afterForkInChild() } -> std::same_as<void>;
};

/// An owning heap tells its own objects from those of other heaps: true of any address inside one.
template <class H>
concept OwningHeap = Heap<H> && requires(H heap, const void* object) {
    { heap.owns(object) } -> std::same_as<bool>;
};

/// A checking heap ends the program, in the name of a routine, unless it is asked about a live
/// object of its own. It can be asked by several threads at once, each about what it owns.
template <class H>
concept CheckingHeap = Heap<H> && requires(H heap, void* object, std::string_view routine) {
    { heap.check(object, routine) } -> std::same_as<void>;
};

/// A heap that can be told how large an object is when it takes it back.
template <class H>
concept SizedFreeHeap = Heap<H> && requires(H heap, void* object, std::size_t size) {
    { heap.free(object, size) } -> std::same_as<void>;
};

/// A concurrent heap may be used by several threads at once. It says so itself: a lock makes it so,
/// and a layer without state of its own is so if the heap below is.
template <class H>
concept ConcurrentHeap = Heap<H> && requires { requires H::concurrent; };

/// An acceptsForeignObjects heap takes the objects of any heap of its type for its own: frees them,
/// knows their size, and keeps them beyond the life of the heap that gave them out. So is what
/// keeps no record of what it has given out; it says so itself.
template <class H>
concept ForeignFreeHeap = Heap<H> && requires { requires H::acceptsForeignObjects; };

/// An openly owning heap may be asked which addresses are its own by any thread at any time,
/// whoever is inside it: no lock is taken for that. It says so itself.
template <class H>
concept LockFreeOwningHeap = OwningHeap<H> && requires { requires H::ownsLockFree; };

/// All objects of a unique heap's type are faces of one and the same heap (`UniqueHeap`).
template <class H>
concept UniquelyNamedHeap = Heap<H> && requires { requires H::unique; };

/// The remainder that a heap's addresses leave modulo its alignment: 0 unless it says otherwise.
template <class H>
inline constexpr std::size_t alignmentOffsetOf = 0;

template <class H>
    requires requires { H::alignmentOffset; }
inline constexpr std::size_t alignmentOffsetOf<H> = H::alignmentOffset;

/// The least size of an object that a heap can keep when it is freed: what its links take, a word
/// unless it says otherwise.
template <class H>
inline constexpr std::size_t leastObjectOf = sizeof(void*);

template <class H>
    requires requires { H::leastObject; }
inline constexpr std::size_t leastObjectOf<H> = H::leastObject;

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
    if constexpr (requires { H::uniform; }) {
        return H::uniform;
    } else if constexpr (requires { typename H::Below; }) {
        return anyUniform(typename H::Below{});
    } else {
        return false;
    }
}

template <class H>
consteval bool isStack() {
    if constexpr (requires { H::stackDiscipline; }) {
        return H::stackDiscipline;
    } else if constexpr (requires { typename H::Below; }) {
        return anyStack(typename H::Below{});
    } else {
        return false;
    }
}

} // namespace detail

/// A uniform heap may be asked for one size only: it hands any object that it holds to any request.
/// So is whatever stands on one, as far as it does not say `uniform = false`.
template <class H>
inline constexpr bool uniformHeap = detail::isUniform<H>();

/// A heap with stack discipline takes objects back only in the opposite order of their making. So
/// does whatever stands on one, as far as it does not say `stackDiscipline = false`.
template <class H>
inline constexpr bool stackHeap = detail::isStack<H>();

/// A heap that may be asked for any size at any time.
template <class H>
concept AnySizeHeap = Heap<H> && !uniformHeap<H>;

/// A heap that takes objects back in any order.
template <class H>
concept AnyOrderHeap = Heap<H> && !stackHeap<H>;

/// A keeping heap has no memory but what it is given: it takes any object and hands it out again,
/// or it declines (`tryRetain`) what it has no room for.
template <class H>
concept CacheOnlyHeap = HoldingHeap<H> && requires { requires H::cacheOnly; };

/// An unphased heap's objects stand on multiples of 16, as most layers want them.
template <class H>
concept MaxAlignedHeap = Heap<H> && H::alignment % minAlignment == 0 && alignmentOffsetOf<H> == 0;

} // namespace heapwright
