// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Heaps with heaps under them, that die with their parent: clearing or destroying a heap first
// clears or destroys all its children, and theirs.
//
// There are two kinds of children. One made by `makeChild` stands in its parent's own memory and is
// destroyed when the parent is cleared or destroyed, or by `endChild` before. One that the program
// makes with its parent as argument is cleared with it, and is an orphan once that is gone. Either
// leaves its parent's list when it is destroyed. Objects are the superheap's, untouched.
// Invariant: a heap is on its parent's list as long as it has one. Cost: nothing on malloc and
// free; constant to make and end a child. Not for children in other threads than their parent's,
// unless all of them share one lock. The layer from Heap Layers (Berger, 2002, 6.3).
// Example: NestedHeap<RegionHeap<8 * KiB, 1 * MiB, MmapHeap>>
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>

#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

template <ClearableHeap SuperHeap>
class NestedHeap : private SuperHeap {
public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t phase = phaseOf<SuperHeap>;
    static constexpr bool tagged = requires { requires SuperHeap::tagged; };
    static constexpr std::string_view caption = "has children that are freed with it";
    using Below = Heaps<SuperHeap>;

    constexpr NestedHeap() noexcept = default;
    /// A child whose memory is the program's.
    explicit NestedHeap(NestedHeap& parent) noexcept { join(parent); }
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
    [[nodiscard]] NestedHeap* makeChild() noexcept requires UnphasedHeap<SuperHeap> &&
        AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap> {
        static_assert(alignof(NestedHeap) <= SuperHeap::alignment);
        void* const memory = SuperHeap::malloc(sizeof(NestedHeap));
        return memory == nullptr ? nullptr : makeChildAt(memory);
    }

    /// A child in memory that is this heap's already and has room for one.
    [[nodiscard]] NestedHeap* makeChildAt(void* memory) noexcept {
        auto* const child = ::new (memory) NestedHeap(*this);
        child->inParent_ = true;
        return child;
    }

    /// Destroys a child that `makeChild` of this heap made.
    void endChild(NestedHeap* child) noexcept {
        child->~NestedHeap();
        SuperHeap::free(child);
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return SuperHeap::malloc(size); }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept requires HoldingHeap<SuperHeap> {
        return SuperHeap::mallocHeld(size);
    }

    [[nodiscard]] void* mallocArea(std::size_t least,
                                   std::size_t& granted) noexcept requires AreaHeap<SuperHeap> {
        return SuperHeap::mallocArea(least, granted);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept requires ZeroingHeap<SuperHeap> {
        return SuperHeap::zalloc(size);
    }

    [[nodiscard]] void* memalign(std::size_t align,
                                 std::size_t size) noexcept requires AlignedHeap<SuperHeap> {
        return SuperHeap::memalign(align, size);
    }

    [[nodiscard]] void*
    memalignHeld(std::size_t align,
                 std::size_t size) noexcept requires AlignedHoldingHeap<SuperHeap> {
        return SuperHeap::memalignHeld(align, size);
    }

    void free(void* object) noexcept { SuperHeap::free(object); }

    void free(void* object, std::size_t size) noexcept requires SizedFreeHeap<SuperHeap> {
        SuperHeap::free(object, size);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept requires SizedHeap<SuperHeap> {
        return SuperHeap::getSize(object);
    }

    [[nodiscard]] bool resize(void* object,
                              std::size_t size) noexcept requires ResizableHeap<SuperHeap> {
        return SuperHeap::resize(object, size);
    }

    [[nodiscard]] void* relocate(void* object,
                                 std::size_t size) noexcept requires RelocatingHeap<SuperHeap> {
        return SuperHeap::relocate(object, size);
    }

    bool flush() noexcept requires FlushableHeap<SuperHeap> { return SuperHeap::flush(); }

    bool trim(std::size_t pad) noexcept requires TrimmableHeap<SuperHeap> {
        return SuperHeap::trim(pad);
    }

    /// The children first: those made here are gone afterwards, the others are empty.
    void clear() noexcept {
        endChildren();
        SuperHeap::clear();
    }

    [[nodiscard]] bool owns(const void* object) noexcept requires OwningHeap<SuperHeap> {
        return SuperHeap::owns(object);
    }

    /// Without its children.
    void measure(Footprint& footprint) noexcept requires MeasurableHeap<SuperHeap> {
        SuperHeap::measure(footprint);
    }

    void beforeFork() noexcept requires ForkableHeap<SuperHeap> { SuperHeap::beforeFork(); }
    void afterForkInParent() noexcept requires ForkableHeap<SuperHeap> {
        SuperHeap::afterForkInParent();
    }
    void afterForkInChild() noexcept requires ForkableHeap<SuperHeap> {
        SuperHeap::afterForkInChild();
    }

private:
    /// Destroys the children that stand in this heap's memory, clears the others.
    void endChildren() noexcept {
        for (NestedHeap* child = children_; child != nullptr;) {
            NestedHeap* const next = child->next_;
            if (child->inParent_) {
                child->~NestedHeap();
            } else {
                child->clear();
            }
            child = next;
        }
    }

    void join(NestedHeap& parent) noexcept {
        parent_ = &parent;
        next_ = parent.children_;
        if (next_ != nullptr) {
            next_->previous_ = this;
        }
        parent.children_ = this;
    }

    void leave() noexcept {
        if (parent_ == nullptr) {
            return;
        }
        (previous_ != nullptr ? previous_->next_ : parent_->children_) = next_;
        if (next_ != nullptr) {
            next_->previous_ = previous_;
        }
        parent_ = next_ = previous_ = nullptr;
    }

    NestedHeap* parent_ = nullptr;
    NestedHeap* children_ = nullptr; ///< the newest first
    NestedHeap* next_ = nullptr;     ///< of the same parent
    NestedHeap* previous_ = nullptr;
    bool inParent_ = false; ///< this heap itself stands in its parent's memory
};

} // namespace heapwright
