// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Private heaps with ownership by address. A policy assigns a request to one of several heaps. A
// freed object returns to the heap it came from, whichever thread frees it.
//
// The heaps take their memory from regions that are registered in the map of the address space
// (structure/map/region_map.hpp). The address of an object thus gives its heap, so objects need no
// header, and an address of another heap is recognised without an access. `ArenaPolicy` chooses the
// heap: that of the thread (`ByThread`), each in turn (`RoundRobin`), or the first whose lock is
// free (`FirstFree`).
// Cost: that of the policy; two loads and a division by a constant on free, and the wait for the
// lock of the object's heap.
//
// Blowup: at most the number of heaps. Each heap may hold as much free memory as the program has
// ever had live from it. No other heap can use that memory. ptmalloc and MTmalloc work like this.
// `PHOThreadHeap` is the same with a header before each object.
//
// Example: ArenaHeap<ByThread<8>, LockedHeap<FutexLock, CoalesceHeap<64 * KiB, CoalesceableHeap<ReserveHeap<64 * MiB>>>>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/map/region_map.hpp>
#include <heapwright/structure/object/tag.hpp>
#include <heapwright/structure/thread/arena_policy.hpp>
#include <heapwright/structure/thread/heap_group.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <class ArenaPolicy, ConcurrentHeap SuperHeap>
    requires MaxAlignedHeap<SuperHeap> && RegionalHeap<SuperHeap> &&
             ArenaPolicyOf<ArenaPolicy, HeapArray<ArenaPolicy::count, SuperHeap>>
class ArenaHeap : public HeapGroup<ArenaPolicy::count, SuperHeap> {
    using HeapGroup<ArenaPolicy::count, SuperHeap>::heaps_;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    /// False if a layer above would change the tags, because it would have to hold a lock for that.
    static constexpr bool tagged = TaggedHeap<SuperHeap> && !UncheckedHeap<SuperHeap>;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true; ///< the map of regions belongs to the process
    static constexpr std::string_view caption =
        "several heaps; memory returns to the one in whose region it lies";
    using Below = Heaps<SuperHeap>;

    constexpr ArenaHeap() noexcept = default;
    ~ArenaHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return policy_.serve(
            heaps_, [size](auto& heap, std::size_t /*index*/) { return heap.malloc(size); });
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return policy_.serve(
            heaps_, [size](auto& heap, std::size_t /*index*/) { return heap.mallocHeld(size); });
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return policy_.serve(
            heaps_, [size](auto& heap, std::size_t /*index*/) { return heap.zalloc(size); });
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return policy_.serve(heaps_, [align, size](auto& heap, std::size_t /*index*/) {
            return heap.memalign(align, size);
        });
    }

    void free(void* object) noexcept { ownerOf(object, "free").free(object); }

    [[nodiscard]] std::size_t getSize(void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        return ownerOf(object, "malloc_usable_size").getSize(object);
    }

    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept
        requires UnlockedSizeHeap<SuperHeap>
    {
        return ownerOf(object, "malloc_usable_size").getSizeUnlocked(object);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        return ownerOf(object, "realloc").resize(object, size);
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return ownerOf(object, "realloc").relocate(object, size);
    }

    /// Takes no lock: an object that its caller owns keeps its heap.
    void check(void* object, std::string_view routine) noexcept
        requires CheckingHeap<SuperHeap>
    {
        ownerOf(object, routine).check(object, routine);
    }

    /// Whether an address lies in a region of one of the heaps. Takes no lock.
    [[nodiscard]] bool owns(const void* object) const noexcept {
        return placeOf(object) < ArenaPolicy::count;
    }

    /// Whether an object is of the heap that the policy tries first for the calling thread.
    [[nodiscard]] bool isHome(void* object) const noexcept
        requires HomeArenaPolicy<ArenaPolicy>
    {
        return placeOf(object) == ArenaPolicy::mine();
    }

private:
    /// Looks up the last byte before the object, because the object itself may start behind the
    /// region's end.
    std::size_t placeOf(const void* object) const noexcept {
        return heaps_.placeOf(RegionMap::ownerOf(pointerTo(addressOf(object) - 1)));
    }

    SuperHeap& ownerOf(const void* object, std::string_view routine) noexcept {
        const std::size_t place = placeOf(object);
        if (place >= ArenaPolicy::count) [[unlikely]] {
            platform::abortWithMessage(routine, "invalid pointer");
        }
        return heaps_[place];
    }

    [[no_unique_address]] ArenaPolicy policy_;
};

} // namespace heapwright
