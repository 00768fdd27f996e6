// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The common part of all heaps that split blocks and merge free neighbours at once. `Fit` selects
// the free block for a request. A heap of this kind inherits publicly from this class and adds a
// name. It grows by the request plus `Growth` bytes.
//
// Invariant: those of structure/fit/block.hpp. All free blocks are in the `Fit` except one, the
// top. The top is a block that ends at a fence, of the newest span if possible. It serves only
// requests that no other block can serve, and has no footer.
//
// Memory is returned when the top exceeds a limit: twice the size of the largest freed object,
// because such an object may be requested again. A free span is returned at once unless it is the
// top.
// Cost: that of the fit, and otherwise constant.
// Source: boundary tags are Knuth's (TAOCP 1, 2.5); the top is Doug Lea's wilderness.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/structure/fit/block.hpp>
#include <heapwright/structure/fit/fit_policy.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright {

template <FitPolicy Fit, std::size_t Growth, SpanHeap SuperHeap>
class MergingBlocks : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    static_assert(Growth % minAlignment == 0 && Growth >= Block::minSize);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;

    constexpr MergingBlocks() noexcept = default;
    ~MergingBlocks() = default;

    [[nodiscard]] void* malloc(std::size_t request) noexcept {
        const std::size_t size = Block::sizeFor(request);
        Block* block = take(size);
        if (block == nullptr) {
            block = grow(size);
        }
        return block == nullptr ? nullptr : carve(block, size);
    }

    /// From present blocks, else null.
    [[nodiscard]] void* mallocHeld(std::size_t request) noexcept {
        const std::size_t size = Block::sizeFor(request);
        Block* const block = take(size);
        return block == nullptr ? nullptr : carve(block, size);
    }

    /// A block that was here before is filled. Fresh memory is zero.
    [[nodiscard]] void* zalloc(std::size_t request) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        if (void* const held = mallocHeld(request)) {
            return std::memset(held, 0, request);
        }
        const std::size_t size = Block::sizeFor(request);
        Block* const block = grow(size);
        if (block == nullptr) {
            return nullptr;
        }
        void* const object = carve(block, size);
        const std::size_t used = fresh_ - addressOf(object);
        return std::memset(object, 0, used < request ? used : request);
    }

    /// Allocates a larger object and frees its ends.
    [[nodiscard]] void* memalign(std::size_t align, std::size_t request) noexcept {
        void* const object = malloc(roomToAlign(align, request));
        return object == nullptr ? nullptr : cutAround(object, align, request);
    }

    /// From present blocks, else null.
    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t request) noexcept {
        void* const object = mallocHeld(roomToAlign(align, request));
        return object == nullptr ? nullptr : cutAround(object, align, request);
    }

    void free(void* object) noexcept {
        Block* const block = Block::of(object);
        if (block->size() > worthKeeping_ / 2 && block->size() <= mostKept / 2) [[unlikely]] {
            worthKeeping_ = 2 * block->size();
        }
        release(block);
    }

    /// Shrinks by freeing the end. Grows into a free neighbour, and at the end of memory by
    /// extending it.
    [[nodiscard]] bool resize(void* object, std::size_t request) noexcept {
        Block* const block = Block::of(object);
        const std::size_t size = Block::sizeFor(request);
        const std::size_t have = block->size();
        if (size == 0) {
            return false;
        }
        if (size > have) {
            Block* const next = block->next();
            if (next == top_ && have + next->size() < size) {
                lengthen(size - have); // the last object grows in place if the span can be extended
            }
            if (!next->tag.has(Flag::binned) || have + next->size() < size) {
                return false;
            }
            detach(next);
            block->tag = Tag(have + next->size(), block->tag.state(), block->tag.flags());
            block->next()->tag.reset(Flag::prevFree);
        }
        cut(block, size);
        return true;
    }

    /// Shrinks the top to `pad` bytes.
    bool trim(std::size_t pad) noexcept { return top_ != nullptr && shorten(pad); }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        fit_.clear();
        top_ = nullptr;
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        const auto count = [&](Block* block) {
            usage.held += block->size();
            ++usage.heldCount;
        };
        fit_.forEach(count);
        if (top_ != nullptr) {
            count(top_);
        }
    }

    using Forwards::getSize;
    using Forwards::owns;

private:
    /// The highest limit of the top.
    static constexpr std::size_t mostKept = 64 * MiB;

    /// The size of a request that contains an aligned object at any address; SIZE_MAX on overflow.
    static constexpr std::size_t roomToAlign(std::size_t align, std::size_t request) noexcept {
        std::size_t whole = 0;
        return __builtin_add_overflow(request, align + Block::minSize, &whole) ? SIZE_MAX : whole;
    }

    /// Cuts an aligned object out of one of `roomToAlign` bytes and frees its ends.
    void* cutAround(void* object, std::size_t align, std::size_t request) noexcept {
        Address aligned = roundUp(addressOf(object), align);
        if (aligned != addressOf(object) && aligned - addressOf(object) < Block::minSize) {
            aligned += align < Block::minSize ? Block::minSize : align;
        }
        Block* block = Block::of(object);
        const std::size_t gap = aligned - addressOf(object);
        if (gap != 0) {
            Block* const front = block;
            block = Block::make(front->at(gap), front->size() - gap, State::live);
            front->tag = Tag(gap, State::live, front->tag.flags());
            release(front);
        }
        cut(block, Block::sizeFor(request));
        return block->object();
    }

    /// Removes a free block of at least `size` bytes from the fit or the top; null if there is
    /// none. Always inlined, as `carve` is: both are on every path, and compilers would not inline
    /// them because of their many callers.
    [[gnu::always_inline]] Block* take(std::size_t size) noexcept {
        if (size == 0) {
            return nullptr;
        }
        Block* const found = fit_.takeFit(size);
        if (found != nullptr) {
            return found;
        }
        return top_ != nullptr && top_->size() >= size ? top_ : nullptr;
    }

    /// Turns a removed block into an object of `size` bytes. The rest stays free.
    [[gnu::always_inline]] void* carve(Block* block, std::size_t size) noexcept {
        const std::size_t rest = block->size() - size;
        const bool fromTop = block == top_;
        if (rest < Block::minSize) {
            top_ = fromTop ? nullptr : top_;
            block->tag = Tag(block->size(), State::live);
            block->next()->tag.reset(Flag::prevFree);
            return block->object();
        }
        block->tag = Tag(size, State::live);
        Block* const remainder = Block::make(block->next(), rest, State::free, Flag::binned);
        if (fromTop) {
            top_ = remainder;
        } else {
            remainder->writeFooter();
            fit_.add(remainder);
        }
        return block->object();
    }

    /// Frees what a used block has beyond `size` bytes.
    void cut(Block* block, std::size_t size) noexcept {
        const std::size_t rest = block->size() - size;
        if (rest >= Block::minSize) {
            block->tag = Tag(size, block->tag.state(), block->tag.flags());
            release(Block::make(block->next(), rest, State::free));
        }
    }

    /// Removes a free block from the fit or from the top.
    void detach(Block* block) noexcept {
        if (block == top_) {
            top_ = nullptr;
        } else {
            fit_.remove(block);
        }
    }

    /// Merges a block with its free neighbours. The result is not in the fit.
    Block* merge(Block* block) noexcept {
        std::size_t size = block->size();
        if (block->tag.has(Flag::prevFree)) {
            Block* const before = block->previous();
            detach(before);
            size += before->size();
            block = before;
        }
        Block* const after = block->at(size);
        if (after->tag.has(Flag::binned)) {
            detach(after);
            size += after->size();
        }
        block->tag = Tag(size, State::free, Flag::binned);
        return block;
    }

    void release(Block* block) noexcept {
        block = merge(block);
        Block* const next = block->next();
        next->tag.set(Flag::prevFree);
        if (next->tag.is(State::fence)) [[unlikely]] {
            releaseLast(block);
            return;
        }
        block->writeFooter();
        fit_.add(block);
    }

    /// Places a free block at the end of its span: as new top, as an empty span to return, or in
    /// the fit.
    void releaseLast(Block* block) noexcept {
        if (top_ == nullptr) {
            top_ = block;
            if (block->size() > worthKeeping_) {
                shorten(Growth);
            }
        } else if (SuperHeap::isWholeSpan(block)) {
            SuperHeap::free(block->object());
        } else {
            block->writeFooter();
            fit_.add(block);
        }
    }

    /// Returns what the top has beyond `keep` bytes; true if anything.
    bool shorten(std::size_t keep) noexcept {
        const std::size_t least = roundUp(keep, minAlignment);
        return top_->size() > least + Block::minSize &&
               SuperHeap::shrink(top_, least < Block::minSize ? Block::minSize : least);
    }

    /// A free block of at least `size` bytes from the superheap; it is not in the fit.
    [[gnu::noinline]] Block* grow(std::size_t size) noexcept {
        if (size == 0) {
            return nullptr;
        }
        Block* const longer = lengthen(size);
        if (longer != nullptr && longer->size() >= size) {
            return longer;
        }
        void* added = span(size + Growth);
        if (added == nullptr) {
            added = span(size);
        }
        return added == nullptr ? nullptr : freshTop(added);
    }

    void* span(std::size_t size) noexcept {
        if constexpr (ZeroingHeap<SuperHeap>) {
            return SuperHeap::zalloc(size);
        } else {
            return SuperHeap::malloc(size);
        }
    }

    /// Extends the top by what it lacks of `size` bytes and some more; null if that fails.
    Block* lengthen(std::size_t size) noexcept {
        std::size_t have = 0;
        if (top_ != nullptr) {
            have = top_->size();
            top_->writeFooter(); // so that the added block finds it
        }
        const std::size_t lacks = size - (have < size ? have : size);
        void* added = SuperHeap::extend(lacks + Growth);
        if (added == nullptr && lacks != 0) { // a source of a fixed size is near its end
            added = SuperHeap::extend(lacks + minAlignment);
        }
        return added == nullptr ? nullptr : freshTop(added);
    }

    /// Makes the added block the top, merged with a free block before it. An older top goes into
    /// the fit.
    Block* freshTop(void* added) noexcept {
        fresh_ = addressOf(added);
        Block* const block = merge(Block::of(added));
        block->next()->tag.set(Flag::prevFree);
        if (top_ != nullptr) {
            top_->writeFooter();
            fit_.add(top_);
        }
        top_ = block;
        return block;
    }

    Fit fit_;
    Block* top_ = nullptr;
    Address fresh_ = 0;                     ///< start of the latest memory from the superheap
    std::size_t worthKeeping_ = 2 * Growth; ///< a larger top is cut to `Growth`
};

} // namespace heapwright
