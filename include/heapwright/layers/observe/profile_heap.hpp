// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the fragmentation of the heap below: the peak of memory taken from its sources, divided
// by the peak of memory in use (`structure/observe/fragmentation.hpp`).
//
// The memory in use is the sum of the requested sizes. The layer keeps them in a map apart from the
// heap, so that the heap behaves as without it. The memory taken is the heap's `measure`. Because
// that may visit all free blocks, it runs only when 1/64 of the peak was requested since the last
// run. Memory that was taken and returned between two runs is not seen, so the result may be low by
// 1/64. It is exact if the heap never returns memory, because `fragmentation()` measures once more.
// The map does not count.
//
// Put it directly under `ANSIWrapper` for the whole, or over any part that can be measured. It is
// not for several threads.
// Invariant: `inUse` is the sum over the objects in the map. An object without room in the map is
// not counted.
// Cost: O(log n) in the map for each verb; 40 bytes for each live object.
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
    static constexpr bool processLocal = true; ///< its map uses memory of its own
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "measures fragmentation: most taken over most in use";
    using Below = Heaps<SuperHeap>;

    constexpr ProfileHeap() noexcept = default;
    ~ProfileHeap() = default;

    /// The figures so far. `Fragmentation::writeTo` formats them as a line of text.
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
            forget(pointerTo(there->start)); // the heap freed it without a call of this layer
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
    std::size_t unseen_ = 0; ///< bytes requested since the last measurement
};

} // namespace heapwright
