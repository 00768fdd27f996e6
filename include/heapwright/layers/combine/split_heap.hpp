// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests up to `Limit` go to one heap, larger ones to the heap below. A freed object returns to
// the heap that it came from: the heap for small objects recognises its own by the address
// (`owns`).
//
// Small objects therefore need no tag. (`HybridHeap` uses the tag.) If the heap for small objects
// has no memory, the heap below serves the request. Several threads may use it at once if they may
// use both heaps so, and `owns` may be called meanwhile.
// Cost: a compare for a request, and `owns` for a free.
//
// Example: SplitHeap<4 * KiB, SuperblockHeap<GeometricSlots<6, 5, 16, 4 * KiB>, AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>>, MmapHeap>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/cache/fast_path.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/structure/thread/fork_holds.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace heapwright {

/// An object of the first heap is aligned as one of the second heap.
template <class Small, class Large>
concept AlignedAlike = Small::alignment % Large::alignment == 0 &&
                       alignmentOffsetOf<Small> == alignmentOffsetOf<Large>;

template <std::size_t Limit, OwningHeap Small, SizedHeap SuperHeap>
    requires SizedHeap<Small> && AlignedAlike<Small, SuperHeap> && AnyOrderHeap<Small> &&
             AnyOrderHeap<SuperHeap> && AnySizeHeap<SuperHeap>
class SplitHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool uniform = false;
    static constexpr bool concurrent = ConcurrentHeap<Small> && ConcurrentHeap<SuperHeap>;
    static constexpr bool processLocal = ProcessLocalHeap<Small> || ProcessLocalHeap<SuperHeap>;
    static constexpr bool forkable = ForkableHeap<Small> || ForkableHeap<SuperHeap>;
    static constexpr std::size_t unitBytes = unitBytesOf<Small>;
    static constexpr std::string_view caption = "small objects from one heap, large ones below";
    using Below = Heaps<Small, SuperHeap>;

    constexpr SplitHeap() noexcept = default;
    ~SplitHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (size <= Limit) [[likely]] {
            if (void* const object = small_.malloc(size)) [[likely]] {
                return object;
            }
        }
        return SuperHeap::malloc(size);
    }

    /// A small object is filled unless its heap can zero it at less cost.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        if (size <= Limit) {
            if constexpr (ZeroingHeap<Small>) {
                if (void* const object = small_.zalloc(size)) {
                    return object;
                }
            } else if (void* const object = small_.malloc(size)) {
                return std::memset(object, 0, size);
            }
        }
        return SuperHeap::zalloc(size);
    }

    /// A small aligned request that the first heap cannot serve goes to the heap below.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        if constexpr (AlignedHeap<Small>) {
            if (size <= Limit && align <= Limit) {
                if (void* const object = small_.memalign(align, size)) {
                    return object;
                }
            }
        }
        return SuperHeap::memalign(align, size);
    }

    void free(void* object) noexcept {
        if (small_.owns(object)) [[likely]] {
            small_.free(object);
        } else {
            SuperHeap::free(object);
        }
    }

    [[nodiscard, gnu::always_inline]] void* tryMallocFast(std::size_t size) noexcept
        requires FastPathHeap<Small>
    {
        return size <= Limit ? small_.tryMallocFast(size) : nullptr;
    }

    [[nodiscard, gnu::always_inline]] bool tryFreeFast(void* object) noexcept
        requires FastPathHeap<Small>
    {
        return small_.owns(object) && small_.tryFreeFast(object);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return small_.owns(object) ? small_.getSize(object) : SuperHeap::getSize(object);
    }

    /// For a caller that may hold a lock: a signal handler.
    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept {
        if (small_.owns(object)) {
            if constexpr (UnlockedSizeHeap<Small>) {
                return small_.getSizeUnlocked(object);
            } else {
                return small_.getSize(object);
            }
        }
        if constexpr (UnlockedSizeHeap<SuperHeap>) {
            return SuperHeap::getSizeUnlocked(object);
        } else {
            return SuperHeap::getSize(object);
        }
    }

    /// An object that grows beyond the limit, or shrinks below it, has to move.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<Small> || ResizableHeap<SuperHeap>
    {
        if (small_.owns(object)) {
            if constexpr (ResizableHeap<Small>) {
                return small_.resize(object, size);
            }
        } else {
            if (size <= Limit) {
                if constexpr (CheckingHeap<SuperHeap>) {
                    SuperHeap::check(object, "realloc"); // no other thread uses it
                }
                return false;
            }
            if constexpr (ResizableHeap<SuperHeap>) {
                return SuperHeap::resize(object, size);
            }
        }
        return false;
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return size <= Limit || small_.owns(object) ? nullptr : SuperHeap::relocate(object, size);
    }

    [[nodiscard]] ObjectLink* mallocBatch(std::size_t size, std::size_t number) noexcept
        requires BatchingHeap<Small>
    {
        return size <= Limit ? small_.mallocBatch(size, number)
                             : mallocChain(static_cast<SuperHeap&>(*this), size, number);
    }

    /// In one step if all objects are small. Assumes so if the first one is.
    void freeBatch(ObjectLink* chain) noexcept
        requires BatchingHeap<Small>
    {
        bool small = true;
        for (ObjectLink* link = chain; link != nullptr && small; link = link->next) {
            small = small_.owns(link);
        }
        if (small) {
            small_.freeBatch(chain);
        } else {
            freeChain(*this, chain);
        }
    }

    /// For a cache above. A large object has no owner. If both heaps use units of one size, the
    /// word itself tells a large object from a small one.
    [[nodiscard, gnu::always_inline]] std::uint64_t ownerTagOf(const void* object) noexcept
        requires OwnerTaggedHeap<Small>
    {
        if constexpr (sharesUnits) {
            return small_.ownerTagOf(object);
        } else {
            return small_.owns(object) ? small_.ownerTagOf(object) : 0U;
        }
    }
    [[nodiscard]] bool hasOwnerTag(const void* object) noexcept
        requires OwnerTaggedHeap<Small>
    {
        return small_.hasOwnerTag(object);
    }
    [[nodiscard]] bool mayCache(const void* object) noexcept
        requires OwnerTaggedHeap<Small>
    {
        return small_.mayCache(object);
    }
    [[nodiscard]] bool adopt(const void* object) noexcept
        requires OwnerTaggedHeap<Small>
    {
        return small_.adopt(object);
    }
    void releaseOwnership() noexcept
        requires OwnerTaggedHeap<Small>
    {
        small_.releaseOwnership();
    }
    [[nodiscard]] ObjectLink* mallocOwned(std::size_t size, std::size_t& number,
                                          ObjectLink* last) noexcept
        requires OwnerTaggedHeap<Small>
    {
        if (size <= Limit) [[likely]] {
            return small_.mallocOwned(size, number, last);
        }
        number = 0;
        return nullptr;
    }
    [[nodiscard]] ObjectLink* freeOwned(ObjectLink* chain, std::size_t number,
                                        ObjectLink* end) noexcept
        requires OwnerTaggedHeap<Small>
    {
        return small_.freeOwned(chain, number, end);
    }
    void sendOwned(ObjectLink* chain, std::size_t number) noexcept
        requires OwnerTaggedHeap<Small>
    {
        small_.sendOwned(chain, number);
    }
    [[nodiscard]] ObjectLink* collectSent() noexcept
        requires OwnerTaggedHeap<Small>
    {
        return small_.collectSent();
    }
    [[nodiscard]] bool earnsOwnerTag() noexcept
        requires OwnerTaggedHeap<Small>
    {
        return small_.earnsOwnerTag();
    }
    [[nodiscard]] std::uint64_t ownerTagOfThread() noexcept
        requires OwnerTaggedHeap<Small>
    {
        return small_.ownerTagOfThread();
    }
    /// Pre: the object is small.
    [[nodiscard, gnu::always_inline]] std::size_t classAt(const void* object) noexcept
        requires OwnerTaggedHeap<Small>
    {
        return small_.classAt(object);
    }

    void check(void* object, std::string_view routine) noexcept
        requires CheckingHeap<Small> && CheckingHeap<SuperHeap>
    {
        if (small_.owns(object)) {
            small_.check(object, routine);
        } else {
            SuperHeap::check(object, routine);
        }
    }

    void inspect(HeapSnapshot& snapshot) noexcept
        requires InspectableHeap<Small> && InspectableHeap<SuperHeap>
    {
        small_.inspect(snapshot);
        SuperHeap::inspect(snapshot);
    }

    void walk(const ObjectVisitor& visit) noexcept
        requires WalkableHeap<Small> && WalkableHeap<SuperHeap>
    {
        small_.walk(visit);
        SuperHeap::walk(visit);
    }

    /// For a cache above that keeps small objects.
    [[nodiscard]] bool mark(const void* object) noexcept
        requires MarkingHeap<Small>
    {
        return small_.mark(object);
    }
    void unmark() noexcept
        requires MarkingHeap<Small>
    {
        small_.unmark();
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return small_.owns(object) || SuperHeap::owns(object);
    }

    bool flush() noexcept
        requires FlushableHeap<Small> || FlushableHeap<SuperHeap>
    {
        bool any = false;
        if constexpr (FlushableHeap<Small>) {
            any = small_.flush();
        }
        if constexpr (FlushableHeap<SuperHeap>) {
            any = SuperHeap::flush() || any;
        }
        return any;
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<Small> || TrimmableHeap<SuperHeap>
    {
        bool any = false;
        if constexpr (TrimmableHeap<Small>) {
            any = small_.trim(pad);
        }
        if constexpr (TrimmableHeap<SuperHeap>) {
            any = SuperHeap::trim(pad) || any;
        }
        return any;
    }

    void clear() noexcept
        requires ClearableHeap<Small> && ClearableHeap<SuperHeap>
    {
        small_.clear();
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<Small> && MeasurableHeap<SuperHeap>
    {
        small_.measure(usage);
        SuperHeap::measure(usage);
    }

    void beforeFork() noexcept
        requires forkable
    {
        holds_.hold(visit());
    }
    void afterForkInParent() noexcept
        requires forkable
    {
        holds_.letGo(visit(), [](auto& heap) { heap.afterForkInParent(); });
    }
    void afterForkInChild() noexcept
        requires forkable
    {
        holds_.letGo(visit(), [](auto& heap) { heap.afterForkInChild(); });
    }

    /// Always false, because `beforeFork` takes only the locks that this thread does not hold yet.
    [[nodiscard]] static bool heldByThisThread() noexcept
        requires forkable
    {
        return false;
    }

    std::uint32_t purgeExpired() noexcept
        requires PurgeableHeap<Small> || PurgeableHeap<SuperHeap>
    {
        std::uint32_t next = UINT32_MAX;
        if constexpr (PurgeableHeap<Small>) {
            next = small_.purgeExpired();
        }
        if constexpr (PurgeableHeap<SuperHeap>) {
            next = std::min(next, SuperHeap::purgeExpired());
        }
        return next;
    }

private:
    static constexpr bool sharesUnits = unitBytes != 0 && unitBytes == unitBytesOf<SuperHeap>;

    /// Enumerates the heaps that a fork holds, from 0. There is at least one.
    [[nodiscard]] auto visit() noexcept {
        return [this](std::size_t index, auto body) {
            if constexpr (ForkableHeap<Small>) {
                if (index == 0) {
                    body(small_);
                    return;
                }
            }
            if constexpr (ForkableHeap<SuperHeap>) {
                if (index == (ForkableHeap<Small> ? 1 : 0)) {
                    body(static_cast<SuperHeap&>(*this));
                }
            }
        };
    }

    struct Nothing {};
    [[no_unique_address]] std::conditional_t<forkable, ForkHolds<2>, Nothing> holds_;
    Small small_;
};

} // namespace heapwright
