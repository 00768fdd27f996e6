// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A region until an object is freed: a pointer moves through areas of the superheap and writes the
// tag of each object. Freed objects go to `Second`, which then serves requests from what it holds,
// until no object fits. Then the pointer moves again. Freeing the newest object returns it to its
// area. `clear` frees everything at once.
//
// Blocks have the layout of structure/fit/block.hpp, so that a `Second` that merges can merge them.
// The pointer and its area are in structure/area/bump_area.hpp. The first free creates `Second` in
// the superheap's memory, so that a heap without frees is small. If there is no memory for it,
// freed objects stay until `clear`.
// Invariant: `Second` exists while the pointer does not move. It contains only freed objects and
// the rests of areas.
// Cost: a compare, an addition, a store.
// Source: the layer is from Heap Layers (Berger, 2002, 6.3).
//
// Example: ClearOptimizedHeap<CoalesceHeap<4 * KiB, CoalesceableHeap<SizeHeap<NullHeap>>>, RegionHeap<8 * KiB, 1 * MiB, MmapHeap>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/area/bump_area.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <concepts>
#include <cstddef>
#include <new>
#include <string_view>
#include <utility>

namespace heapwright {

/// `Second` only serves what was freed to it (`mallocHeld`), and relies on the tags.
template <IndirectHeap Second, MaxAlignedHeap SuperHeap>
    requires UncheckedHeap<Second> && HoldingHeap<Second> && ClearableHeap<Second> &&
             AnySizeHeap<Second> && AnyOrderHeap<Second> && ClearableHeap<SuperHeap> &&
             AnySizeHeap<SuperHeap>
class ClearOptimizedHeap : private SuperHeap {
    /// The size of a request to a superheap without areas.
    static constexpr std::size_t usualArea = 8 * KiB - 2 * minAlignment;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    static constexpr bool stackDiscipline = false; ///< single objects never go to the superheap
    static constexpr std::string_view caption =
        "moves a pointer until something is freed, then serves that first";
    using Below = Heaps<Second, SuperHeap>;

    constexpr ClearOptimizedHeap() noexcept = default;
    /// For a superheap with constructor arguments.
    template <class... Told>
        requires(sizeof...(Told) != 0) && std::constructible_from<SuperHeap, Told...>
    explicit ClearOptimizedHeap(Told&&... told) noexcept : SuperHeap(std::forward<Told>(told)...) {}
    ClearOptimizedHeap(const ClearOptimizedHeap&) = delete;
    ClearOptimizedHeap& operator=(const ClearOptimizedHeap&) = delete;
    ~ClearOptimizedHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t request) noexcept {
        return malloc(request, [](void* /*object*/) {});
    }

    /// Runs `recycle` on an object from `Second`. An object from the pointer has a new tag.
    template <std::invocable<void*> Recycle>
    [[nodiscard]] void* malloc(std::size_t request, Recycle recycle) noexcept {
        if (!area_.moving()) {
            if (void* const object = second_->mallocHeld(request)) [[likely]] {
                recycle(object);
                return object;
            }
        }
        const std::size_t size = Block::sizeFor(request);
        if (area_.cursor().hasRoom(size)) [[likely]] {
            return area_.cursor().make(size)->object();
        }
        return mallocFromArea(request, *this);
    }

    /// From `Second`, or from the present area.
    [[nodiscard]] void* mallocHeld(std::size_t request) noexcept {
        if (!area_.moving()) {
            if (void* const object = second_->mallocHeld(request)) {
                return object;
            }
        }
        const std::size_t size = Block::sizeFor(request);
        return area_.hasRoom(size) ? area_.make(size)->object() : nullptr;
    }

    /// The parts before and after the aligned object go to `Second`. Without `Second` they are
    /// lost.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t request) noexcept {
        const std::size_t size = Block::sizeFor(request);
        if (align <= alignment || size == 0 || align > Block::largest) {
            return align <= alignment ? malloc(request) : nullptr;
        }
        // Contains an aligned block at any start.
        const std::size_t whole = size + align + Block::minSize;
        void* object = area_.moving() ? nullptr : second_->mallocHeld(whole);
        if (object == nullptr) {
            const std::size_t gap = BumpArea::gapBefore(align, area_.cursor().next);
            if (area_.hasRoom(gap + size)) {
                return cutFront(area_.make(gap + size), gap);
            }
            object = fromNewArea(whole);
        }
        return object == nullptr ? nullptr : cutAround(Block::of(object), align, request);
    }

    void free(void* object) noexcept {
        if (!area_.moving()) [[likely]] {
            second_->free(object);
        } else {
            freeWhileMoving(object, *this);
        }
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).size() - Tag::bytes;
    }

    /// The newest object grows and shrinks in place; the others as `Second` can.
    [[nodiscard]] bool resize(void* object, std::size_t request) noexcept
        requires ResizableHeap<Second>
    {
        Block* const block = Block::of(object);
        if (area_.isLast(block)) {
            return area_.resizeLast(block, Block::sizeFor(request));
        }
        if (second_ == nullptr && request > getSize(object)) {
            return false; // no free block beside it
        }
        return startFreeing() ? second_->resize(object, request) : request <= getSize(object);
    }

    void clear() noexcept {
        if (second_ != nullptr) {
            second_->clear(); // one step; the destructor would visit each object
            second_->~Second();
            second_ = nullptr;
        }
        SuperHeap::clear();
        area_ = {};
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return SuperHeap::owns(object);
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        if constexpr (MeasurableHeap<Second>) {
            if (second_ != nullptr) {
                second_->measure(usage);
            }
        }
        usage.held += area_.rest();
        usage.heldCount += area_.rest() != 0 ? 1U : 0U;
    }

    /// Starts in memory of the superheap's owner.
    /// Pre: no object was made since the start or the last `clear`, and `bytes` suffice for a
    /// block.
    void beginIn(void* memory, std::size_t bytes) noexcept {
        area_.enter(memory, BumpArea::roomIn(bytes));
    }

    /// The pointer and its limit, for a caller that allocates by itself as `malloc` does.
    [[nodiscard]] BumpCursor& cursor() noexcept { return area_.cursor(); }

private:
    /// From the present area, or from a new one, when nothing in `Second` fits. Out of line and
    /// static, so that the size stays in its register.
    [[gnu::noinline]] static void* mallocFromArea(std::size_t request,
                                                  ClearOptimizedHeap& heap) noexcept {
        const std::size_t size = Block::sizeFor(request);
        if (heap.area_.hasRoom(size)) {
            return heap.area_.make(size)->object();
        }
        return size != 0 ? heap.fromNewArea(size) : nullptr;
    }

    /// From a new area with room for a block of `size` bytes. The pointer continues in the area
    /// with more room.
    void* fromNewArea(std::size_t size) noexcept {
        std::size_t granted = 0;
        void* const memory = takeArea(size + BumpArea::overhead, granted);
        if (memory == nullptr) {
            return nullptr;
        }
        const std::size_t usable = BumpArea::roomIn(granted);
        if (usable - size >= area_.rest()) {
            leaveArea();
            area_.enter(memory, usable);
            return area_.make(size)->object();
        }
        BumpArea alone;
        alone.enter(memory, usable);
        void* const object = alone.make(usable)->object();
        alone.stop();
        return object;
    }

    void* takeArea(std::size_t least, std::size_t& granted) noexcept {
        if constexpr (AreaHeap<SuperHeap>) {
            return SuperHeap::mallocArea(least, granted);
        } else {
            granted = least < usualArea ? usualArea : least;
            return SuperHeap::malloc(granted);
        }
    }

    /// Gives the rest of the area to `Second`, if it exists.
    void leaveArea() noexcept {
        if (!area_.exists()) {
            return;
        }
        if (second_ != nullptr && area_.rest() >= Block::minSize) {
            Block* const rest = area_.make(area_.rest());
            area_.stop();
            second_->free(rest->object());
        } else {
            area_.stop();
        }
    }

    [[gnu::noinline]] static void freeWhileMoving(void* object, ClearOptimizedHeap& heap) noexcept {
        if (!heap.area_.takeBack(Block::of(object)) && heap.startFreeing()) {
            heap.second_->free(object);
        }
    }

    /// Creates `Second` if needed and serves from it first. Returns false if there is no memory for
    /// it.
    bool startFreeing() noexcept {
        static_assert(alignof(Second) <= minAlignment);
        if (second_ == nullptr) {
            const std::size_t size = Block::sizeFor(sizeof(Second));
            void* const place = area_.hasRoom(size) ? area_.make(size)->object()
                                                    : SuperHeap::malloc(sizeof(Second));
            if (place == nullptr) {
                return false;
            }
            second_ = ::new (place) Second;
        }
        area_.stop();
        return true;
    }

    /// Cuts an aligned object out of a block that contains one.
    void* cutAround(Block* whole, std::size_t align, std::size_t request) noexcept {
        void* const object = cutFront(whole, BumpArea::gapBefore(align, addressOf(whole)));
        if constexpr (ResizableHeap<Second>) {
            if (!area_.moving() || area_.isLast(Block::of(object))) {
                static_cast<void>(resize(object, request));
            }
        }
        return object;
    }

    /// Splits a block in two and gives the first part to `Second`, if it exists.
    void* cutFront(Block* front, std::size_t gap) noexcept {
        if (gap == 0) {
            return front->object();
        }
        Block* const block = Block::make(front->at(gap), front->size() - gap, State::live);
        front->tag = Tag(gap, State::live, front->tag.flags());
        if (second_ != nullptr) {
            second_->free(front->object());
        }
        return block->object();
    }

    BumpArea area_;
    Second* second_ = nullptr; ///< holds the freed objects
};

} // namespace heapwright
