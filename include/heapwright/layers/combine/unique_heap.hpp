// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A type that names one heap: every object of it is a face of the same `SuperHeap`. That heap
// exists before the first line of the program and is never destroyed. Several layers, each of which
// constructs its own superheap, can thus share one source. `Name` is any type; each name is another
// heap.
//
// An operation that would affect all users is not available through one face. There is no `clear`,
// and the locks above, through which the heap is reached, handle a fork. (A heap that is reached
// without a lock uses `theHeap()` for it.) `measure` counts the heap once. Threads may share it if
// they may share the superheap.
// Cost: none; the linker knows the address.
//
// Example: UniqueHeap<DefaultName, MmapHeap>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/immortal.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/cache/fast_path.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

/// The name for the only heap of a program. A composition declares types as further names.
struct DefaultName {};

template <class Name, Heap SuperHeap>
class UniqueHeap {
    static inline constinit Immortal<SuperHeap> only_{};

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = true;
    static constexpr bool unique = true;
    /// It belongs to the program, not to the memory below.
    static constexpr bool processLocal = true;
    static constexpr std::size_t unitBytes = unitBytesOf<SuperHeap>;
    static constexpr std::size_t blockSize = blockSizeOf<SuperHeap>;
    static constexpr std::string_view caption = "one heap for all that name it";
    using Below = Heaps<SuperHeap>;

    /// The heap itself.
    [[nodiscard]] static SuperHeap& theHeap() noexcept { return only_.object; }

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return theHeap().malloc(size); }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return theHeap().mallocHeld(size);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return theHeap().zalloc(size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return theHeap().memalign(align, size);
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return theHeap().memalignHeld(align, size);
    }

    [[nodiscard]] void* mallocAt(std::size_t size, std::size_t align, std::size_t from) noexcept
        requires PhaseAlignedHeap<SuperHeap>
    {
        return theHeap().mallocAt(size, align, from);
    }

    void free(void* object) noexcept { theHeap().free(object); }

    void free(void* object, std::size_t size) noexcept
        requires SizedFreeHeap<SuperHeap>
    {
        theHeap().free(object, size);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        return theHeap().getSize(object);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        return theHeap().resize(object, size);
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return theHeap().relocate(object, size);
    }

    [[nodiscard]] bool owns(const void* object) const noexcept
        requires OwningHeap<SuperHeap>
    {
        return theHeap().owns(object);
    }

    [[nodiscard]] ObjectLink* mallocBatch(std::size_t size, std::size_t count) noexcept
        requires BatchingHeap<SuperHeap>
    {
        return theHeap().mallocBatch(size, count);
    }

    void freeBatch(ObjectLink* chain) noexcept
        requires BatchingHeap<SuperHeap>
    {
        theHeap().freeBatch(chain);
    }

    [[nodiscard, gnu::always_inline]] static std::uint64_t ownerTagOf(const void* object) noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        return theHeap().ownerTagOf(object);
    }
    [[nodiscard]] static bool hasOwnerTag(const void* object) noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        return theHeap().hasOwnerTag(object);
    }
    [[nodiscard]] static bool mayCache(const void* object) noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        return theHeap().mayCache(object);
    }
    [[nodiscard]] static bool adopt(const void* object) noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        return theHeap().adopt(object);
    }
    static void releaseOwnership() noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        theHeap().releaseOwnership();
    }
    [[nodiscard]] static ObjectLink* mallocOwned(std::size_t size, std::size_t& number,
                                                 ObjectLink* last) noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        return theHeap().mallocOwned(size, number, last);
    }
    [[nodiscard]] static ObjectLink* freeOwned(ObjectLink* chain, std::size_t number,
                                               ObjectLink* end) noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        return theHeap().freeOwned(chain, number, end);
    }
    static void sendOwned(ObjectLink* chain, std::size_t number) noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        theHeap().sendOwned(chain, number);
    }
    [[nodiscard]] static ObjectLink* collectSent() noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        return theHeap().collectSent();
    }
    [[nodiscard]] static bool earnsOwnerTag() noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        return theHeap().earnsOwnerTag();
    }
    [[nodiscard]] static std::uint64_t ownerTagOfThread() noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        return theHeap().ownerTagOfThread();
    }
    [[nodiscard, gnu::always_inline]] static std::size_t classAt(const void* object) noexcept
        requires OwnerTaggedHeap<SuperHeap>
    {
        return theHeap().classAt(object);
    }

    void check(void* object, std::string_view routine) noexcept
        requires CheckingHeap<SuperHeap>
    {
        theHeap().check(object, routine);
    }

    std::uint32_t purgeExpired() noexcept
        requires PurgeableHeap<SuperHeap>
    {
        return theHeap().purgeExpired();
    }

    bool flush() noexcept
        requires FlushableHeap<SuperHeap>
    {
        return theHeap().flush();
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        return theHeap().trim(pad);
    }

    void inspect(HeapSnapshot& snapshot) noexcept
        requires InspectableHeap<SuperHeap>
    {
        if (snapshot.firstVisit(&only_)) {
            theHeap().inspect(snapshot);
        }
    }

    void walk(const ObjectVisitor& visit) noexcept
        requires WalkableHeap<SuperHeap>
    {
        theHeap().walk(visit);
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        if (usage.firstVisit(&only_)) {
            theHeap().measure(usage);
        }
    }
};

} // namespace heapwright
