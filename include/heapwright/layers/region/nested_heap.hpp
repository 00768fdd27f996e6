// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Heaps with child heaps, which end with their parent: clearing or destroying a heap first clears
// or destroys all its children, and their children.
//
// There are two kinds of children. `makeChild` and `makeChildAt` create one in memory that is freed
// when the child ends: on its parent's clearing or destruction, or by `endChild`. A child that the
// program constructs with its parent as argument is cleared with the parent. It has no parent after
// that one is destroyed. Both kinds leave their parent's list when they are destroyed. The
// superheap handles the objects. If threads may share the superheap, they may create and end
// children of one heap at once.
// Pre: while a heap is cleared or destroyed, no thread uses it or a heap inside it.
// Invariant: a heap is on its parent's list as long as it has a parent.
// Cost: none for malloc and free. Constant to create and end a child. Ending a family is constant
// for each member and needs no recursion.
// Source: the layer is from Heap Layers (Berger, 2002, 6.3).
//
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
    /// Frees the memory of a child.
    using Release = void (*)(NestedHeap* child) noexcept;

    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr std::string_view caption = "has children that are freed with it";
    using Below = Heaps<SuperHeap>;

    constexpr NestedHeap() noexcept = default;
    /// A child in memory of the program.
    explicit NestedHeap(NestedHeap& parent) noexcept : Forwards() { join(parent); }
    NestedHeap(const NestedHeap&) = delete;
    NestedHeap& operator=(const NestedHeap&) = delete;
    ~NestedHeap() {
        endChildren();
        while (children_ != nullptr) { // they continue without a parent
            children_->leave();
        }
        leave();
    }

    [[nodiscard]] NestedHeap* parent() const noexcept { return parent_; }

    /// Creates a child in this heap's own memory; null if there is none.
    [[nodiscard]] NestedHeap* makeChild() noexcept
        requires MaxAlignedHeap<SuperHeap> && AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
    {
        static_assert(alignof(NestedHeap) <= SuperHeap::alignment);
        void* const memory = SuperHeap::malloc(sizeof(NestedHeap));
        return memory == nullptr ? nullptr : makeChildAt(memory, nullptr);
    }

    /// Creates a child in memory with room for one. If `release` is null, the memory is this
    /// heap's. Otherwise `release` frees it when the child has ended.
    [[nodiscard]] NestedHeap* makeChildAt(void* memory, Release release) noexcept {
        auto* const child = ::new (memory) NestedHeap(*this);
        child->endsWithParent_ = true;
        child->release_ = release;
        return child;
    }

    /// Destroys a child that `makeChild` or `makeChildAt` of this heap created.
    void endChild(NestedHeap* child) noexcept {
        const bool inside = child->release_ == nullptr;
        end(child);
        if (inside) {
            SuperHeap::free(child);
        }
    }

    /// Removes this heap from its parent.
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

    /// Clears the children first. Those that end with this heap are destroyed, the others are
    /// empty.
    void clear() noexcept {
        endChildren();
        SuperHeap::clear();
    }

    /// The bump cursor, for a caller that allocates by itself.
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

    /// Ends the children that end with this heap and clears the others, children first. It walks to
    /// a heap without children, then to its sibling, then up.
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
    NestedHeap* next_ = nullptr;     ///< the next child of the same parent
    NestedHeap* previous_ = nullptr;
    Release release_ = nullptr;
    bool endsWithParent_ = false;
    [[no_unique_address]] Mutex lock_; ///< protects the list of children
};

} // namespace heapwright
