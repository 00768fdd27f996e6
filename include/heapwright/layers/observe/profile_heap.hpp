// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the fragmentation of the heap below: the most memory that it has taken from its sources
// over the most that was in use above it (`structure/observe/fragmentation.hpp`).
//
// One layer sees both sides: what is in use are the sizes asked of it, which it keeps in a map
// apart from the heap, so that nothing below is changed by being watched; what is taken is the
// heap's own `measure`. Since that may walk over all that is free, it is not asked after each
// request, but when as much was asked for as a 64th of the most taken so far. So what was taken and
// given back between two looks is not seen, and the figure may be low by that 64th; it is exact
// where nothing is given back, for then the look that `fragmentation()` itself takes sees it. The
// map does not count.
//
// Put it right under `ANSIWrapper` for the whole, or over any part that can be measured. Invariant:
// `inUse` is the sum over the objects in the map; an object that finds no room in it is not
// counted. Not for several threads. Cost: O(log n) in the map for each verb, 40 bytes for each live
// object.
//
// Example: ProfileHeap<MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/map/address_map.hpp>
#include <heapwright/structure/observe/fragmentation.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <MeasurableHeap SuperHeap>
class ProfileHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    struct Nothing {};
    using Objects = AddressMap<Nothing>;
    using Entry = typename Objects::Entry;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool processLocal = true; ///< its map is in memory of its own
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "measures fragmentation: most taken over most in use";
    using Below = Heaps<SuperHeap>;

    constexpr ProfileHeap() noexcept = default;
    ~ProfileHeap() = default;

    /// The figures up to now; `Fragmentation::writeTo` makes a line of text of them.
    [[nodiscard]] const Fragmentation& fragmentation() noexcept {
        look();
        return figures_;
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return used(SuperHeap::malloc(size), size);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return used(SuperHeap::zalloc(size), size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return used(SuperHeap::memalign(align, size), size);
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return used(SuperHeap::mallocHeld(size), size);
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return used(SuperHeap::memalignHeld(align, size), size);
    }

    void free(void* object) noexcept {
        forget(object);
        SuperHeap::free(object);
    }

    void free(void* object, std::size_t size) noexcept
        requires SizedFreeHeap<SuperHeap>
    {
        forget(object);
        SuperHeap::free(object, size);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        const bool done = SuperHeap::resize(object, size);
        if (done) {
            forget(object);
            used(object, size);
        }
        return done;
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        void* const moved = SuperHeap::relocate(object, size);
        if (moved != nullptr) {
            forget(object);
            used(moved, size);
        }
        return moved;
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        look();
        return SuperHeap::trim(pad);
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        look();
        SuperHeap::clear();
        objects_.clear();
        figures_.unuse(figures_.inUse);
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::flush;
    using Forwards::getSize;
    using Forwards::measure;
    using Forwards::owns;

private:
    void look() noexcept {
        MemoryUsage usage;
        SuperHeap::measure(usage);
        figures_.see(usage.mapped);
        unseen_ = 0;
    }

    void* used(void* object, std::size_t size) noexcept {
        Entry* const entry = object == nullptr ? nullptr : objects_.reserve();
        if (entry == nullptr) {
            return object;
        }
        while (const Entry* const there = objects_.overlapping(addressOf(object), size)) {
            forget(pointerTo(there->start)); // it has gone, and nobody said so
        }
        objects_.insert(entry, addressOf(object), size);
        figures_.use(size);
        unseen_ += size;
        if (unseen_ >= figures_.mostTaken / 64) [[unlikely]] {
            look();
        }
        return object;
    }

    void forget(void* object) noexcept {
        Entry* const entry = objects_.find(addressOf(object));
        if (entry != nullptr) [[likely]] {
            figures_.unuse(entry->size);
            objects_.remove(entry);
            objects_.release(entry);
        }
    }

    Objects objects_;
    Fragmentation figures_;
    std::size_t unseen_ = 0; ///< bytes asked for since the last look
};

} // namespace heapwright
