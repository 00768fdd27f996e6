// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Binary buddies: blocks of 2^MinOrder bytes and more, each aligned to its size. A block is split
// in halves until one is as small as the request allows. A freed block merges with its other half
// as soon as both are free.
//
// Blocks are carved from areas of 2^MaxOrder bytes, which are aligned too, so the address of an
// object gives its area. If the superheap cannot align, an area takes twice its size. An area
// without live blocks is returned at once.
//
// Objects have no header, because a header would double the block of a power-of-two request. The
// map of the area stores the order of each block. The largest block is half an area. A larger
// request, or one aligned to an area or more, gets an area of its own from the superheap.
// Invariants: structure/area/buddy_area.hpp.
// Cost: one step for each split or merge. Rounding wastes up to half of a block.
// Source: Knowlton ("A fast storage allocator", 1965); Knuth (TAOCP 1, 2.5) after Markowitz.
//
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

    /// A block from the present areas, else null.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        return size > Area::largestBlock ? nullptr : take(Area::orderFor(size));
    }

    /// Blocks are aligned to their size, so a larger block also serves the alignment.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        const std::size_t least = size < align ? align : size;
        if (least > Area::largestBlock) {
            return larger(size, align < minAlignment ? minAlignment : align);
        }
        return malloc(least);
    }

    /// A block from the present areas, else null.
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

    /// Frees upper halves to shrink; takes free upper halves to grow.
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
    /// Takes a block of this order, from a free one of this order or by splitting a larger one;
    /// null if none is free.
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

    /// Enlarges the block at `offset` to the order `wanted`, if all upper halves that it needs are
    /// free.
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

    /// Takes `size` bytes from the superheap at a multiple of `align`; null if it has none. The
    /// caller places the fields. `taken` receives the address to free.
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

    /// Adds an area and divides its space after the fields and the map into the largest aligned
    /// blocks.
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

    /// Removes the free blocks of an area from the lists. `last` was the area's last live block. An
    /// area for one larger object has none.
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

    /// An object with an area of its own.
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

    /// Resizes in place if the superheap can and the object stays larger than a block. Otherwise
    /// only down to half.
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

    Ring free_[MaxOrder - MinOrder]; ///< the lists by order, in use where the bit is set
    std::size_t occupied_ = 0;       ///< bit k: there are free blocks of order k
    Area* areas_ = nullptr;          ///< all areas, the newest first
};

} // namespace heapwright
