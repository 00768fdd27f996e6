// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives any power-of-two alignment over a heap that has only its own: a larger object is taken, and
// the aligned address inside it gets a tag that says how far back the object starts.
//
// An object whose own address happens to be aligned is given out as it is. If the superheap aligns
// by itself, it is asked. Cost: nothing for ordinary objects (the compare is the one that a check
// below makes anyway), up to the alignment and 16 bytes for displaced ones.
//
// Example: AlignHeap<SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>

namespace heapwright {

template <TaggedHeap SuperHeap>
    requires AnySizeHeap<SuperHeap>
class AlignHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption = "honours any alignment, by a displaced header";
    using Below = Heaps<SuperHeap>;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return SuperHeap::malloc(size); }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        if constexpr (AlignedHeap<SuperHeap>) {
            return SuperHeap::memalign(align, size);
        } else {
            if (align <= alignment) {
                return SuperHeap::malloc(size);
            }
            std::size_t whole = 0;
            if (__builtin_add_overflow(size, align, &whole)) {
                return nullptr;
            }
            void* const object = SuperHeap::malloc(whole);
            return object == nullptr ? nullptr : displaced(object, align);
        }
    }

    void free(void* object) noexcept { SuperHeap::free(original(object)); }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        void* const whole = original(object);
        return SuperHeap::getSize(whole) - (addressOf(object) - addressOf(whole));
    }

    /// A displaced object stays where it is as long as its new size fits.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        void* const whole = original(object);
        if (whole == object) [[likely]] {
            return SuperHeap::resize(object, size);
        }
        return size <= SuperHeap::getSize(whole) - (addressOf(object) - addressOf(whole));
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return original(object) == object ? SuperHeap::relocate(object, size) : nullptr;
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::clear;
    using Forwards::flush;
    using Forwards::heldByThisThread;
    using Forwards::measure;
    using Forwards::owns;
    using Forwards::trim;
    using Forwards::zalloc;

private:
    /// The object that was taken from below. An ordinary one is told first; what is neither is
    /// passed on for the superheap to judge, misaligned addresses without being looked at.
    static void* original(void* object) noexcept {
        if (addressOf(object) % minAlignment != 0 || Tag::of(object).is(State::live)) [[likely]] {
            return object;
        }
        const Tag& tag = Tag::of(object);
        return tag.is(State::displaced) ? backward(object, tag.size()) : object;
    }

    static void* displaced(void* object, std::size_t align) noexcept {
        const Address aligned = roundUp(addressOf(object), align);
        const std::size_t distance = aligned - addressOf(object);
        if (distance == 0) {
            return object;
        }
        void* const inner = pointerTo(aligned);
        ::new (backward(inner, Tag::bytes)) Tag(distance, State::displaced);
        return inner;
    }
};

} // namespace heapwright
