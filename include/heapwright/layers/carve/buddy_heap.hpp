// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Binary buddies: blocks of 2^MinOrder bytes and more, each aligned to its size, halved until one
// is as small as the request allows, and merged with its other half as soon as both are free.
//
// Blocks are cut from areas of 2^MaxOrder bytes, aligned too, so that an object's area is known
// from its address; where the superheap cannot align, an area takes twice its room. An area that is
// free as a whole goes back at once.
//
// Objects have no header, which would turn a request for a power of two into a block of twice that:
// the order of a block stands in the map of its area, under the place where the block starts. So
// the largest block is half an area. What is larger, or wants to be aligned to an area or more,
// comes straight from the superheap, as an area of its own with one object in it. Invariants:
// structure/area/buddy_area.hpp.
// Cost: one step for each halving and merging; up to half of a block is lost to rounding. Knuth
// (TAOCP 1, 2.5) after Markowitz; Knowlton ("A fast storage allocator", 1965).
// Example: BuddyHeap<5, 20, MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/area/buddy_area.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/list/ring.hpp>

#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t MinOrder, std::size_t MaxOrder, AnyOrderHeap SuperHeap>
class BuddyHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    using Area = BuddyArea<MinOrder, MaxOrder>;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr std::string_view caption =
        "halves aligned blocks, merges them with their other half";
    using Below = Heaps<SuperHeap>;

    constexpr BuddyHeap() noexcept = default;
    ~BuddyHeap() { returnAreas(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (size > Area::largestBlock) [[unlikely]] {
            return larger(size, minAlignment);
        }
        const std::size_t order = Area::orderFor(size);
        void* const block = take(order);
        return block != nullptr || !addArea() ? block : take(order);
    }

    /// Only from the areas that are there.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        return size > Area::largestBlock ? nullptr : take(Area::orderFor(size));
    }

    /// A block is aligned to its size, so it is a matter of asking for enough.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        const std::size_t least = size < align ? align : size;
        if (least > Area::largestBlock) {
            return larger(size, align < minAlignment ? minAlignment : align);
        }
        return malloc(least);
    }

    /// Only from the areas that are there.
    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept {
        return mallocHeld(size < align ? align : size);
    }

    void free(void* object) noexcept {
        Area* const area = Area::of(object);
        if (area->own != 0 || --area->live == 0) {
            forgetBlocks(area, object);
            remove(area);
            return;
        }
        std::size_t offset = area->offsetOf(object);
        std::size_t order = area->orderAt(offset);
        for (; order + 1 < MaxOrder; ++order) {
            const std::size_t buddy = offset ^ Area::sizeOf(order);
            if (!area->isFree(buddy, order)) {
                break;
            }
            removeFree(area, buddy, order);
            offset &= ~Area::sizeOf(order);
        }
        addFree(area, offset, order);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        Area* const area = Area::of(object);
        return area->own != 0 ? area->own : Area::sizeOf(area->orderAt(area->offsetOf(object)));
    }

    /// Gives the upper halves back, or takes them in where they are free.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        Area* const area = Area::of(object);
        if (area->own != 0) {
            return resizeLarger(area, object, size);
        }
        if (size > Area::largestBlock) {
            return false;
        }
        const std::size_t wanted = Area::orderFor(size);
        const std::size_t offset = area->offsetOf(object);
        std::size_t order = area->orderAt(offset);
        if (wanted > order && !takeUpperHalves(area, offset, order, wanted)) {
            return false;
        }
        while (order > wanted) {
            --order;
            addFree(area, offset + Area::sizeOf(order), order);
        }
        area->markLive(offset, wanted);
        return true;
    }

    void clear() noexcept {
        returnAreas();
        if constexpr (ClearableHeap<SuperHeap>) {
            SuperHeap::clear();
        }
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        for (std::size_t order = MinOrder; order < MaxOrder; ++order) {
            if ((occupied_ & Area::sizeOf(order)) == 0) {
                continue;
            }
            const Ring& list = free_[order - MinOrder];
            for (const RingNode* node = list.front(); node != list.end(); node = node->next) {
                usage.held += Area::sizeOf(order);
                ++usage.heldCount;
            }
        }
    }

    using Forwards::owns;

private:
    /// A block of this order, live, from a free one that is as large or is halved; null if none is.
    void* take(std::size_t order) noexcept {
        const std::size_t fitting = occupied_ & (~std::size_t{0} << order);
        if (fitting == 0) {
            return nullptr;
        }
        auto found = static_cast<std::size_t>(__builtin_ctzll(fitting));
        void* const block = free_[found - MinOrder].back();
        Area* const area = Area::of(block);
        const std::size_t offset = area->offsetOf(block);
        removeFree(area, offset, found);
        while (found > order) {
            --found;
            addFree(area, offset + Area::sizeOf(found), found);
        }
        area->markLive(offset, order);
        ++area->live;
        return block;
    }

    void addFree(Area* area, std::size_t offset, std::size_t order) noexcept {
        Ring& list = free_[order - MinOrder];
        if ((occupied_ & Area::sizeOf(order)) == 0) {
            occupied_ |= Area::sizeOf(order);
            list.reset();
        }
        list.addBack(::new (area->at(offset)) RingNode);
        area->markFree(offset, order);
    }

    void removeFree(Area* area, std::size_t offset, std::size_t order) noexcept {
        Ring::remove(static_cast<RingNode*>(area->at(offset)));
        if (free_[order - MinOrder].empty()) {
            occupied_ &= ~Area::sizeOf(order);
        }
    }

    /// Makes a block that starts here one of the order that is wanted, if all it lacks is free.
    bool takeUpperHalves(Area* area, std::size_t offset, std::size_t order,
                         std::size_t wanted) noexcept {
        for (std::size_t each = order; each < wanted; ++each) {
            const std::size_t upper = offset + Area::sizeOf(each);
            if ((offset & Area::sizeOf(each)) != 0 || !area->isFree(upper, each)) {
                return false;
            }
        }
        for (std::size_t each = order; each < wanted; ++each) {
            removeFree(area, offset + Area::sizeOf(each), each);
        }
        return true;
    }

    /// Takes `size` bytes from below at a multiple of `align`; null if there are none. The fields
    /// are for the caller to place; `taken` is what to give back.
    void* fromBelow(std::size_t align, std::size_t size, void*& taken) noexcept {
        if constexpr (AlignedHeap<SuperHeap>) {
            return taken = SuperHeap::memalign(align, size);
        } else {
            std::size_t whole = 0;
            if (__builtin_add_overflow(size, align, &whole)) {
                return nullptr;
            }
            taken = SuperHeap::malloc(whole);
            return taken == nullptr
                       ? nullptr
                       : forward(taken, roundUp(addressOf(taken), align) - addressOf(taken));
        }
    }

    Area* add(void* place, void* taken, std::size_t own) noexcept {
        Area* const area = ::new (place) Area{areas_, nullptr, taken, 0, own};
        if (areas_ != nullptr) {
            areas_->previous = area;
        }
        return areas_ = area;
    }

    void remove(Area* area) noexcept {
        (area->previous != nullptr ? area->previous->next : areas_) = area->next;
        if (area->next != nullptr) {
            area->next->previous = area->previous;
        }
        SuperHeap::free(area->taken);
    }

    /// An area more, free but for its fields and map: blocks as large as their places allow.
    [[gnu::noinline]] bool addArea() noexcept {
        void* taken = nullptr;
        void* const place = fromBelow(Area::size, Area::size, taken);
        if (place == nullptr) {
            return false;
        }
        Area* const area = add(place, taken, 0);
        area->layOut([&](std::size_t offset, std::size_t order) { addFree(area, offset, order); });
        return true;
    }

    /// Takes the free blocks of an area out of the lists. `last` was the last live one; larger
    /// objects have none.
    void forgetBlocks(Area* area, void* last) noexcept {
        if (area->own != 0) {
            return;
        }
        area->forEachBlock([&](std::size_t offset, std::size_t order) {
            if (area->at(offset) != last) {
                removeFree(area, offset, order);
            }
        });
    }

    /// An object with an area for itself.
    [[gnu::noinline]] void* larger(std::size_t size, std::size_t align) noexcept {
        const bool onBoundary = align >= Area::size;
        const std::size_t lead = Area::leadFor(align);
        std::size_t whole = 0;
        if (__builtin_add_overflow(size, lead, &whole)) {
            return nullptr;
        }
        void* taken = nullptr;
        void* const place = fromBelow(onBoundary ? align : Area::size, whole, taken);
        if (place == nullptr) {
            return nullptr;
        }
        void* const object = forward(place, lead);
        add(Area::of(object), taken, size == 0 ? 1 : size);
        return object;
    }

    /// In place while it stays larger than a block, if the superheap can, else down to its half.
    bool resizeLarger(Area* area, void* object, std::size_t size) noexcept {
        if (size <= Area::largestBlock) {
            return false;
        }
        if constexpr (ResizableHeap<SuperHeap>) {
            const std::size_t lead = addressOf(object) - addressOf(area->taken);
            std::size_t whole = 0;
            if (__builtin_add_overflow(size, lead, &whole) ||
                !SuperHeap::resize(area->taken, whole)) {
                return false;
            }
            area->own = size;
            return true;
        } else {
            return size <= area->own && size > area->own / 2;
        }
    }

    void returnAreas() noexcept {
        while (areas_ != nullptr) {
            remove(areas_);
        }
        occupied_ = 0;
    }

    Ring free_[MaxOrder - MinOrder]; ///< by order, in use where the bit is set
    std::size_t occupied_ = 0;       ///< bit k: there are free blocks of order k
    Area* areas_ = nullptr;          ///< all areas, the newest first
};

} // namespace heapwright
