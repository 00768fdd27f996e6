// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program of regions would do with plain malloc and free: every object is one of the
// superheap's, and `clear` frees each of them, the newest first. So a program that is written for
// regions runs on any allocator, and the two can be compared; and objects live exactly as long as
// in the region. Single frees free at once, as in a reap.
//
// Which objects are live is recorded out of band, in an array from `Records` that lies nowhere near
// them; the layer neither reads nor writes an object, so that the last use of each is the
// program's. Give `Records` memory that the superheap has nothing to do with. Invariant: the record
// names exactly the live objects. Cost: a store on malloc, a free for each object on `clear`; 8
// bytes an object, and with the first single free that is not of one of the newest, an index of
// 8 to 16 more. The region emulator of Berger, Zorn and McKinley (2002).
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
    /// That of the records is not this heap's.
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

    /// What is not in the record is not this heap's, and is left alone.
    void free(void* object) noexcept {
        if (record_.remove(object, records_)) [[likely]] {
            SuperHeap::free(object);
        }
    }

    /// What is not in the record stays where it is.
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
            SuperHeap::clear(); // what it holds of what has been freed
        }
        if constexpr (ClearableHeap<Records>) {
            records_.clear();
        }
    }

    /// Looks at every object until it is found.
    [[nodiscard]] bool owns(const void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        return record_.any([&](void* each) {
            const std::size_t size = SuperHeap::getSize(each);
            return addressOf(object) - addressOf(each) < (size == 0 ? 1 : size);
        });
    }

    /// With what the records take. Of a superheap that does not measure itself, the sizes of the
    /// live objects.
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
    /// An object that cannot be recorded goes back.
    void* recorded(void* object) noexcept {
        if (object != nullptr && !record_.add(object, records_)) [[unlikely]] {
            SuperHeap::free(object);
            return nullptr;
        }
        return object;
    }

    /// Neither asks the other for anything, so the order is of no matter.
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
    /// The last: clang 14 gets wrong what stands in the padding at another's end.
    [[no_unique_address]] Records records_;
};

} // namespace heapwright
