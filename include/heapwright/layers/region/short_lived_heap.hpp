// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A ring of arenas for objects that die soon. A request moves a pointer and counts the object. A
// free counts it down. An arena without live objects is used again from its start. A further arena
// is used only if all used ones have live objects. If the newest object is freed, the pointer moves
// back, so a stack of objects stays where it is.
//
// The heap never waits and never searches for free objects. If each arena has a live object, it
// declines, and so it does for a large object. It stands beside a heap that serves the rest
// (`CallSiteHeap`).
//
// One thread allocates: the first one that asks. The heap declines the requests of other threads.
// Any thread may free. The frees of others are counted apart, with an atomic addition. The same
// counter takes the frees of a signal handler that interrupted this heap; its requests are
// declined. A fork needs no preparation, because no state is half changed outside the owner's own
// requests.
//
// Invariant: an arena is empty if as many objects are freed by others as the owner counts live.
// Cost: 8 bytes for each object; a few instructions and no loop for most requests.
// Source: Barrett and Zorn, "Using lifetime predictors to improve memory allocation performance",
// PLDI 1993.
//
// Example: ShortLivedHeap<16, 8 * KiB, MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/area/known_area.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/object/tag.hpp>
#include <heapwright/structure/thread/sole_owner.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t Arenas, std::size_t ArenaBytes, MaxAlignedHeap SuperHeap>
    requires AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class ShortLivedHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;
    static_assert(Arenas >= 2 && std::has_single_bit(ArenaBytes) && ArenaBytes >= 1 * KiB);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    static constexpr bool concurrent = true;
    static constexpr bool ownsLockFree = true;
    static constexpr bool processLocal = true;     ///< the number of a thread belongs to a process
    static constexpr bool uniform = false;         ///< only the area has one size
    static constexpr bool stackDiscipline = false; ///< an object freed in the middle is counted
    static constexpr std::string_view caption = "counts the live objects of small arenas in a ring";
    using Below = Heaps<SuperHeap>;

    /// The largest request that is served, in bytes.
    static constexpr std::size_t mostBytes = ArenaBytes / 8;

    constexpr ShortLivedHeap() noexcept = default;
    ShortLivedHeap(const ShortLivedHeap&) = delete;
    ShortLivedHeap& operator=(const ShortLivedHeap&) = delete;
    ~ShortLivedHeap() {
        if (area_.isTaken()) {
            SuperHeap::free(pointerTo(area_.begin()));
        }
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (size > mostBytes || !owner_.isOrBecomesMine()) [[unlikely]] {
            return nullptr;
        }
        const SoleOwner::Change change(owner_);
        const std::size_t block = roundUp(size + Tag::bytes, minAlignment);
        if (block > end_ - next_ && !findArena()) [[unlikely]] {
            return nullptr;
        }
        void* const object = pointerTo(next_ + Tag::bytes);
        ::new (pointerTo(next_)) Tag(block, State::live);
        next_ += block;
        ++arenas_[current_].live;
        return object;
    }

    void free(void* object) noexcept {
        const std::size_t index = (addressOf(object) - area_.begin()) / ArenaBytes;
        Arena& arena = arenas_[index];
        if (!owner_.isMine()) [[unlikely]] {
            arena.freedByOthers.fetch_add(1, std::memory_order_release);
            return;
        }
        const SoleOwner::Change change(owner_);
        --arena.live;
        if (index != current_) {
            return;
        }
        if (arena.live == 0) {
            next_ = firstOf(index);
        } else if (addressOf(object) + getSize(object) == next_) {
            next_ = addressOf(object) - Tag::bytes;
        }
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).plainSize() - Tag::bytes;
    }

    /// An object never grows.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        return size <= getSize(object);
    }

    [[nodiscard]] bool owns(const void* object) const noexcept { return area_.has(object); }

    using Forwards::measure;

private:
    /// Requests that are declined after a search without result, so that searches stay rare.
    static constexpr std::uint32_t patience = 64;

    struct Arena {
        std::size_t live = 0; ///< objects made, without those that the owner has freed
        std::atomic<std::size_t> freedByOthers{0};
    };

    /// Goes on to the next empty arena. It takes an unused one if no used one is empty. False if
    /// there is none.
    [[gnu::noinline]] bool findArena() noexcept {
        if (toDecline_ > 0) {
            --toDecline_;
            return false;
        }
        if (!area_.isTaken()) {
            void* const memory = SuperHeap::malloc(area_.bytes);
            if (memory == nullptr) {
                return false;
            }
            area_.take(memory);
        }
        std::size_t index = current_;
        for (std::size_t step = 0; step < used_; ++step) {
            index = index + 1 < used_ ? index + 1 : 0;
            if (arenas_[index].live ==
                arenas_[index].freedByOthers.load(std::memory_order_acquire)) {
                begin(index);
                return true;
            }
        }
        if (used_ < Arenas) {
            begin(used_++);
            return true;
        }
        toDecline_ = patience;
        return false;
    }

    /// Pre: the arena is empty.
    void begin(std::size_t index) noexcept {
        arenas_[index].live = 0;
        arenas_[index].freedByOthers.store(0, std::memory_order_relaxed);
        current_ = index;
        next_ = firstOf(index);
        end_ = next_ + ArenaBytes - minAlignment;
    }

    /// The address of the first tag of an arena. Its object is a multiple of 16.
    [[nodiscard]] Address firstOf(std::size_t index) const noexcept {
        return area_.begin() + index * ArenaBytes + Tag::bytes;
    }

    KnownArea<Arenas * ArenaBytes> area_;
    SoleOwner owner_;
    std::uint32_t toDecline_ = 0;
    std::size_t used_ = 0;    ///< the arenas that have ever served; later ones are untouched
    std::size_t current_ = 0; ///< the arena that serves
    Address next_ = 0;        ///< of the next tag there
    Address end_ = 0;
    std::array<Arena, Arenas> arenas_{};
};

} // namespace heapwright
