// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Heaps with heaps under them, that die with their parent: clearing or destroying a heap first
// clears or destroys all its children, and theirs.
//
// There are two kinds of children. One made by `makeChild` or `makeChildAt` stands in memory that
// is given back when it ends: with its parent's clearing or destruction, or by `endChild` before.
// One that the program makes with its parent as argument is cleared with it, and is an orphan once
// that is gone. Either leaves its parent's list when it is destroyed. Objects are the superheap's,
// untouched.
// Where the superheap is for several threads, so is this: they may make and end children of one
// heap at once. A heap is cleared or destroyed while nobody uses it, or any that is inside.
// Invariant: a heap is on its parent's list as long as it has one. Cost: nothing on malloc and
// free; constant to make and end a child; to end a family, constant for each of it, and no stack.
// The layer from Heap Layers (Berger, 2002, 6.3).
// Example: NestedHeap<RegionHeap<8 * KiB, 1 * MiB, MmapHeap>>
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/area/bump_area.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>

#include <cstddef>
#include <new>
#include <string_view>
#include <type_traits>

namespace heapwright {

template <ClearableHeap SuperHeap>
class NestedHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    struct NoLock {
        void lock() noexcept {}
        [[nodiscard]] bool tryLock() noexcept { return true; }
        void unlock() noexcept {}
        void reset() noexcept {}
        [[nodiscard]] bool heldByThisThread() const noexcept { return false; }
    };
    using Mutex = std::conditional_t<ConcurrentHeap<SuperHeap>, FutexLock, NoLock>;
    using Hold = Guard<Mutex>;

public:
    /// Gives back the memory in which a child stands.
    using Release = void (*)(NestedHeap* child) noexcept;

    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr std::string_view caption = "has children that are freed with it";
    using Below = Heaps<SuperHeap>;

    constexpr NestedHeap() noexcept = default;
    /// A child whose memory is the program's.
    explicit NestedHeap(NestedHeap& parent) noexcept : Forwards() { join(parent); }
    NestedHeap(const NestedHeap&) = delete;
    NestedHeap& operator=(const NestedHeap&) = delete;
    ~NestedHeap() {
        endChildren();
        while (children_ != nullptr) { // they live on without
            children_->leave();
        }
        leave();
    }

    [[nodiscard]] NestedHeap* parent() const noexcept { return parent_; }

    /// A child in this heap's own memory; null if there is none.
    [[nodiscard]] NestedHeap* makeChild() noexcept
        requires MaxAlignedHeap<SuperHeap> && AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
    {
        static_assert(alignof(NestedHeap) <= SuperHeap::alignment);
        void* const memory = SuperHeap::malloc(sizeof(NestedHeap));
        return memory == nullptr ? nullptr : makeChildAt(memory, nullptr);
    }

    /// A child in memory that has room for one: this heap's already or, if `release` is not null,
    /// that which `release` gives back when the child has ended.
    [[nodiscard]] NestedHeap* makeChildAt(void* memory, Release release) noexcept {
        auto* const child = ::new (memory) NestedHeap(*this);
        child->endsWithParent_ = true;
        child->release_ = release;
        return child;
    }

    /// Destroys a child that `makeChild` or `makeChildAt` of this heap made.
    void endChild(NestedHeap* child) noexcept {
        const bool inside = child->release_ == nullptr;
        end(child);
        if (inside) {
            SuperHeap::free(child);
        }
    }

    /// Makes this a heap without a parent.
    void leave() noexcept {
        if (parent_ == nullptr) {
            return;
        }
        const Hold hold(parent_->lock_);
        (previous_ != nullptr ? previous_->next_ : parent_->children_) = next_;
        if (next_ != nullptr) {
            next_->previous_ = previous_;
        }
        parent_ = next_ = previous_ = nullptr;
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return SuperHeap::malloc(size); }

    void free(void* object) noexcept { SuperHeap::free(object); }

    /// The children first: those made here are gone afterwards, the others are empty.
    void clear() noexcept {
        endChildren();
        SuperHeap::clear();
    }

    /// Where objects are made one behind another, for who makes them by itself.
    [[nodiscard]] BumpCursor& cursor() noexcept
        requires CursorHeap<SuperHeap>
    {
        return SuperHeap::cursor();
    }

    void beforeFork() noexcept
        requires ForkableHeap<SuperHeap>
    {
        lock_.lock();
        SuperHeap::beforeFork();
    }
    void afterForkInParent() noexcept
        requires ForkableHeap<SuperHeap>
    {
        SuperHeap::afterForkInParent();
        lock_.unlock();
    }
    void afterForkInChild() noexcept
        requires ForkableHeap<SuperHeap>
    {
        SuperHeap::afterForkInChild();
        lock_.reset();
    }

    using Forwards::flush;
    using Forwards::free;
    using Forwards::getSize;
    using Forwards::mallocArea;
    using Forwards::mallocHeld;
    using Forwards::measure; ///< without its children
    using Forwards::memalign;
    using Forwards::memalignHeld;
    using Forwards::owns;
    using Forwards::relocate;
    using Forwards::resize;
    using Forwards::trim;
    using Forwards::zalloc;

private:
    static void end(NestedHeap* heap) noexcept {
        const Release release = heap->release_;
        heap->~NestedHeap();
        if (release != nullptr) {
            release(heap);
        }
    }

    /// Ends the children that end with this heap and clears the others, those of each before it:
    /// down to one that has none, then on to the next one beside it, or up.
    void endChildren() noexcept {
        NestedHeap* at = innermost();
        while (at != this) {
            NestedHeap* const parent = at->parent_;
            NestedHeap* const next = at->next_;
            if (at->endsWithParent_) {
                end(at);
            } else {
                static_cast<SuperHeap*>(at)->clear();
            }
            at = next != nullptr ? next->innermost() : parent;
        }
    }

    /// The newest child of the newest child, and so on.
    [[nodiscard]] NestedHeap* innermost() noexcept {
        NestedHeap* heap = this;
        while (heap->children_ != nullptr) {
            heap = heap->children_;
        }
        return heap;
    }

    void join(NestedHeap& parent) noexcept {
        const Hold hold(parent.lock_);
        parent_ = &parent;
        next_ = parent.children_;
        if (next_ != nullptr) {
            next_->previous_ = this;
        }
        parent.children_ = this;
    }

    NestedHeap* parent_ = nullptr;
    NestedHeap* children_ = nullptr; ///< the newest first
    NestedHeap* next_ = nullptr;     ///< of the same parent
    NestedHeap* previous_ = nullptr;
    Release release_ = nullptr;
    bool endsWithParent_ = false;
    [[no_unique_address]] Mutex lock_; ///< of the list of children
};

} // namespace heapwright
