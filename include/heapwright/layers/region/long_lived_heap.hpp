// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Packs objects that live long into one area, so that they hold no page of other objects. A request
// moves a pointer. A freed object goes to a list of its exact size, and the next request of this
// size takes it. Nothing is split or merged. Pages are touched in their order, and never returned.
//
// If the area is full, the heap declines, and so it does for a large object. It stands beside a
// heap that serves the rest (`CallSiteHeap`).
//
// One thread allocates: the first one that asks. The heap declines the requests of other threads.
// Any thread may free. The frees of others wait in a list until the owner needs memory. So do those
// of a signal handler that interrupted this heap; its requests are declined. A fork needs no
// preparation, because no state is half changed outside the owner's own requests.
//
// Cost: 8 bytes for each object; a few instructions and no loop for most requests.
// Source: the segregation of long-lived objects in Barrett and Zorn, "Using lifetime predictors to
// improve memory allocation performance", PLDI 1993.
//
// Example: LongLivedHeap<1 * MiB, 1 * KiB, MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/area/known_area.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/list/lifo_list.hpp>
#include <heapwright/structure/object/tag.hpp>
#include <heapwright/structure/signal/deferred_frees.hpp>
#include <heapwright/structure/thread/sole_owner.hpp>

#include <array>
#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t AreaBytes, std::size_t MostBytes, MaxAlignedHeap SuperHeap>
    requires AnySizeHeap<SuperHeap> && AnyOrderHeap<SuperHeap>
class LongLivedHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;
    static_assert(AreaBytes % minAlignment == 0 && AreaBytes >= 4 * MostBytes);
    static_assert(MostBytes % minAlignment == 0 && MostBytes > 0);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    static constexpr bool concurrent = true;
    static constexpr bool ownsLockFree = true;
    static constexpr bool processLocal = true;     ///< the number of a thread belongs to a process
    static constexpr bool uniform = false;         ///< only the area has one size
    static constexpr bool stackDiscipline = false; ///< a list takes objects in any order
    static constexpr std::string_view caption = "packs long-lived objects into one area";
    using Below = Heaps<SuperHeap>;

    constexpr LongLivedHeap() noexcept = default;
    LongLivedHeap(const LongLivedHeap&) = delete;
    LongLivedHeap& operator=(const LongLivedHeap&) = delete;
    ~LongLivedHeap() {
        if (area_.isTaken()) {
            SuperHeap::free(pointerTo(area_.begin()));
        }
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (size > MostBytes || !owner_.isOrBecomesMine()) [[unlikely]] {
            return nullptr;
        }
        const SoleOwner::Change change(owner_);
        freedByOthers_.drain([this](void* object) { keep(object); });
        const std::size_t block = roundUp(size + Tag::bytes, minAlignment);
        if (void* const object = lists_[block / minAlignment].take(size)) {
            return object;
        }
        if (block > end_ - next_ && !begin(block)) [[unlikely]] {
            return nullptr;
        }
        void* const object = pointerTo(next_ + Tag::bytes);
        ::new (pointerTo(next_)) Tag(block, State::live);
        next_ += block;
        return object;
    }

    void free(void* object) noexcept {
        if (!owner_.isMine()) [[unlikely]] {
            freedByOthers_.add(object);
            return;
        }
        const SoleOwner::Change change(owner_);
        keep(object);
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
    static constexpr std::size_t lists = roundUp(MostBytes + Tag::bytes, minAlignment) / 16 + 1;

    /// Takes the area at the first request. False if there is no room for the block.
    [[gnu::cold, gnu::noinline]] bool begin(std::size_t block) noexcept {
        if (!area_.isTaken()) {
            void* const memory = SuperHeap::malloc(AreaBytes);
            if (memory == nullptr) {
                return false;
            }
            area_.take(memory);
            next_ = area_.begin() + Tag::bytes; // so that objects are multiples of 16
            end_ = area_.begin() + AreaBytes;
        }
        return block <= end_ - next_;
    }

    /// Keeps a freed object for the next request of its size.
    void keep(void* object) noexcept {
        const std::size_t block = Tag::of(object).plainSize();
        lists_[block / minAlignment].insert(object, block);
    }

    KnownArea<AreaBytes> area_;
    SoleOwner owner_;
    DeferredFrees freedByOthers_;
    Address next_ = 0; ///< of the next tag
    Address end_ = 0;
    std::array<LifoList, lists> lists_{}; ///< freed objects by size in units of 16 bytes
};

} // namespace heapwright
