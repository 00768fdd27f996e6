// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Emulates a region by malloc and free: the superheap allocates each object, and `clear` frees all
// of them, newest first. A program written for regions thus runs on any allocator, for a
// comparison. Objects live exactly as long as in the region. A single free frees at once, as in a
// reap.
//
// The record of live objects is an array from `Records`, away from the objects. The layer neither
// reads nor writes an object, so the last access to each is the program's.
// Pre: `Records` takes its memory independently of the superheap.
// Invariant: the record contains exactly the live objects.
// Cost: a store for a malloc, and a free for each object on `clear`; 8 bytes for each object. The
// first single free of an object that is not among the newest adds an index of 8 to 16 bytes for
// each.
// Source: the region emulator of Berger, Zorn and McKinley (2002).
//
// Example: EmulatedRegionHeap<MmapHeap, MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/map/object_record.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <MaxAlignedHeap Records, AnyOrderHeap SuperHeap>
    requires AnySizeHeap<Records> && AnyOrderHeap<Records>
class EmulatedRegionHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    /// The sizes of the records do not matter for this heap.
    static constexpr bool uniform = uniformHeap<SuperHeap>;
    static constexpr std::string_view caption = "frees all at once, object by object";
    using Below = Heaps<Records, SuperHeap>;

    constexpr EmulatedRegionHeap() noexcept = default;
    EmulatedRegionHeap(const EmulatedRegionHeap&) = delete;
    EmulatedRegionHeap& operator=(const EmulatedRegionHeap&) = delete;
    ~EmulatedRegionHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return recorded(SuperHeap::malloc(size));
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return recorded(SuperHeap::zalloc(size));
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return recorded(SuperHeap::memalign(align, size));
    }

    /// Ignores an object that is not in the record.
    void free(void* object) noexcept {
        if (record_.remove(object, records_)) [[likely]] {
            SuperHeap::free(object);
        }
    }

    /// An object that is not in the record is not moved.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        const std::size_t place = record_.placeOf(object, records_);
        if (place == ObjectRecord<Records>::nowhere) {
            return nullptr;
        }
        void* const moved = SuperHeap::relocate(object, size);
        if (moved != nullptr && moved != object) {
            record_.replace(place, moved);
        }
        return moved;
    }

    void clear() noexcept {
        record_.popAll(records_, [this](void* object) { SuperHeap::free(object); });
        if constexpr (ClearableHeap<SuperHeap>) {
            SuperHeap::clear(); // frees what it holds of the freed objects
        }
        if constexpr (ClearableHeap<Records>) {
            records_.clear();
        }
    }

    /// Cost: linear in the number of live objects.
    [[nodiscard]] bool owns(const void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        return record_.any([&](void* each) {
            const std::size_t size = SuperHeap::getSize(each);
            return addressOf(object) - addressOf(each) < (size == 0 ? 1 : size);
        });
    }

    /// Includes the memory of the records. If the superheap cannot measure, the sum of the live
    /// objects' sizes.
    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap> || SizedHeap<SuperHeap>
    {
        if constexpr (MeasurableHeap<SuperHeap>) {
            SuperHeap::measure(usage);
            if constexpr (MeasurableHeap<Records>) {
                records_.measure(usage);
            }
        } else {
            static_cast<void>(record_.any([&](void* each) {
                usage.mapped += SuperHeap::getSize(each);
                return false;
            }));
        }
    }

    void beforeFork() noexcept
        requires ForkableHeap<SuperHeap> || ForkableHeap<Records>
    {
        eachForkable([](auto& heap) { heap.beforeFork(); });
    }
    void afterForkInParent() noexcept
        requires ForkableHeap<SuperHeap> || ForkableHeap<Records>
    {
        eachForkable([](auto& heap) { heap.afterForkInParent(); });
    }
    void afterForkInChild() noexcept
        requires ForkableHeap<SuperHeap> || ForkableHeap<Records>
    {
        eachForkable([](auto& heap) { heap.afterForkInChild(); });
    }

    using Forwards::flush;
    using Forwards::getSize;
    using Forwards::resize;
    using Forwards::trim;

private:
    /// Frees an object that cannot be recorded.
    void* recorded(void* object) noexcept {
        if (object != nullptr && !record_.add(object, records_)) [[unlikely]] {
            SuperHeap::free(object);
            return nullptr;
        }
        return object;
    }

    /// The order does not matter, because neither heap calls the other.
    template <class Body>
    void eachForkable(Body body) noexcept {
        if constexpr (ForkableHeap<Records>) {
            body(records_);
        }
        if constexpr (ForkableHeap<SuperHeap>) {
            body(static_cast<SuperHeap&>(*this));
        }
    }

    ObjectRecord<Records> record_;
    /// Last, because clang 14 miscompiles a member in the tail padding of another.
    [[no_unique_address]] Records records_;
};

} // namespace heapwright
