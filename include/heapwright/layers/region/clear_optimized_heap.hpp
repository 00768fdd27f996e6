// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Quick as a region until something is freed: a pointer moves through areas of the superheap, and
// writes each object's tag on its way. What is freed goes to `Second`, which then serves requests
// from what it holds until it has none that fits; from there on the pointer moves again. `clear`
// frees everything at once, whichever way it was served.
//
//   | unused | tag | object ... | tag | object ... | last tag | not used yet ...
//
// Blocks are laid out as structure/block.hpp has them, so that a `Second` that merges may merge
// them; the last tag says live and stands for what comes after, until the next object's tag takes
// its place. Invariants: `next_` is the place of the last tag or 0; nothing but freed objects is in
// `Second`, and nothing at all while `bumping_` is set after `clear`.
// Cost: a compare, an addition, two stores. The layer from Heap Layers (Berger, 2002, 6.3).
// Example: ClearOptimizedHeap<CoalesceHeap<4 * KiB, CoalesceableHeap<SizeHeap<NullHeap>>>, RegionHeap<8 * KiB, 1 * MiB, MmapHeap>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/structure/block.hpp>
#include <heapwright/structure/tag.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

/// `Second` is asked only for what was freed to it (`mallocHeld`); it goes by the tags.
template <IndirectHeap Second, UnphasedHeap SuperHeap>
requires UncheckedHeap<Second> && HoldingHeap<Second> && ClearableHeap<Second> &&
    AnySizeHeap<Second> && AnyOrderHeap<Second> && ClearableHeap<SuperHeap> &&
    AnySizeHeap<SuperHeap>
class ClearOptimizedHeap : private SuperHeap {
    /// What is asked of a superheap that has no areas.
    static constexpr std::size_t usualArea = 8 * KiB - 2 * minAlignment;
    /// What an area has beside its blocks: the tags at both ends.
    static constexpr std::size_t overhead = 2 * Tag::bytes;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    static constexpr bool stackDiscipline = false; ///< nothing single goes to the superheap
    static constexpr std::string_view caption =
        "moves a pointer until something is freed, then serves that first";
    using Below = Heaps<Second, SuperHeap>;

    constexpr ClearOptimizedHeap() noexcept = default;
    ~ClearOptimizedHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t request) noexcept {
        const std::size_t size = Block::sizeFor(request);
        if (bumping_ && fits(size)) [[likely]] {
            return bump(size);
        }
        return mallocOtherwise(request, *this);
    }

    /// From `Second`, or from the area at hand.
    [[nodiscard]] void* mallocHeld(std::size_t request) noexcept {
        if (!bumping_) {
            if (void* const object = second_.mallocHeld(request)) {
                return object;
            }
            bumping_ = true;
        }
        const std::size_t size = Block::sizeFor(request);
        return fits(size) ? bump(size) : nullptr;
    }

    void free(void* object) noexcept {
        bumping_ = false;
        second_.free(object);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).size() - Tag::bytes;
    }

    /// What is given back by this is free in `Second`.
    [[nodiscard]] bool resize(void* object,
                              std::size_t size) noexcept requires ResizableHeap<Second> {
        const bool done = second_.resize(object, size);
        bumping_ = bumping_ && !done;
        return done;
    }

    void clear() noexcept {
        second_.clear();
        SuperHeap::clear();
        next_ = end_ = 0;
        bumping_ = true;
    }

    [[nodiscard]] bool owns(const void* object) noexcept requires OwningHeap<SuperHeap> {
        return SuperHeap::owns(object);
    }

    void measure(Footprint& footprint) noexcept requires MeasurableHeap<SuperHeap> {
        SuperHeap::measure(footprint);
        if constexpr (MeasurableHeap<Second>) {
            second_.measure(footprint);
        }
        footprint.held += end_ - next_;
        footprint.heldCount += end_ != next_ ? 1U : 0U;
    }

private:
    /// No block has size 0; that is what a request beyond all sizes makes.
    [[nodiscard]] bool fits(std::size_t size) const noexcept { return size - 1 < end_ - next_; }

    /// Pre: the area has room for the block and the tag behind it.
    void* bump(std::size_t size) noexcept {
        auto* const block = static_cast<Block*>(pointerTo(next_));
        block->tag = Tag(size, State::live, block->tag.flags());
        next_ += size;
        Block::make(pointerTo(next_), 0, State::live);
        return block->object();
    }

    [[gnu::noinline]] static void* mallocOtherwise(std::size_t request,
                                                   ClearOptimizedHeap& heap) noexcept {
        if (void* const object = heap.mallocHeld(request)) {
            return object;
        }
        const std::size_t size = Block::sizeFor(request);
        return size != 0 && heap.addArea(size) ? heap.bump(size) : nullptr;
    }

    /// Goes on in a new area, which has room for a block of `size` bytes.
    bool addArea(std::size_t size) noexcept {
        std::size_t granted = 0;
        void* const area = takeArea(size + overhead, granted);
        if (area == nullptr) {
            return false;
        }
        next_ = addressOf(area) + Tag::bytes;
        end_ = next_ + roundDown(granted - overhead, minAlignment);
        Block::make(pointerTo(next_), 0, State::live);
        return true;
    }

    void* takeArea(std::size_t least, std::size_t& granted) noexcept {
        if constexpr (AreaHeap<SuperHeap>) {
            return SuperHeap::mallocArea(least, granted);
        } else {
            granted = least < usualArea ? usualArea : least;
            return SuperHeap::malloc(granted);
        }
    }

    Address next_ = 0; ///< where the next block starts: the last tag
    Address end_ = 0;  ///< where the last block of the area ends at most
    bool bumping_ = true;
    Second second_;
};

} // namespace heapwright
