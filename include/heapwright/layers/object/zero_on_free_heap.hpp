// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills freed objects with zero bytes before they reach the heap below. Keys and passwords of a
// program thus do not appear in later objects, and stay in core files no longer than the program
// keeps them.
//
// All usable bytes of an object are filled, even if the program requested fewer. An object that
// shrinks stays in place above half of its capacity, and the rest is filled; otherwise it moves and
// is freed. A move by pages leaves no copy. The layer has no state, so it is as concurrent as the
// heap below.
// Cost: one pass over each freed object, and the memory that shrinking objects keep.
//
// Example: ZeroOnFreeHeap<MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace heapwright {

template <SizedHeap SuperHeap>
class ZeroOnFreeHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption = "fills freed objects with zero bytes";
    using Below = Heaps<SuperHeap>;

    constexpr ZeroOnFreeHeap() noexcept = default;
    ~ZeroOnFreeHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return SuperHeap::malloc(size); }

    void free(void* object) noexcept {
        zero(object, SuperHeap::getSize(object));
        SuperHeap::free(object);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        const std::size_t have = SuperHeap::getSize(object);
        if (size <= have) {
            const bool stays = size > have / 2;
            if (stays) {
                zero(forward(object, size), have - size);
            }
            return stays;
        }
        if constexpr (ResizableHeap<SuperHeap>) {
            return SuperHeap::resize(object, size);
        } else {
            return false;
        }
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::check;
    using Forwards::clear; // live objects are not filled then
    using Forwards::flush;
    using Forwards::getSize;
    using Forwards::heldByThisThread;
    using Forwards::inspect;
    using Forwards::mallocHeld;
    using Forwards::measure;
    using Forwards::memalign;
    using Forwards::memalignHeld;
    using Forwards::owns;
    using Forwards::purgeExpired;
    using Forwards::relocate;
    using Forwards::trim;
    using Forwards::walk;
    using Forwards::zalloc;

private:
    /// Not `memset`, which a compiler may remove before a known `free`.
    static void zero(void* bytes, std::size_t count) noexcept { ::explicit_bzero(bytes, count); }
};

} // namespace heapwright
