// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives any power-of-two alignment over a heap that has only its own alignment. It takes a larger
// object. A tag before the aligned address inside it holds the distance to the start of the object.
//
// An object whose address is aligned already is returned as it is. If the superheap can align, it
// serves the request.
// Cost: none for ordinary objects, because the compare replaces that of a check below. For
// displaced objects up to the alignment and 16 bytes.
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

    /// A displaced object stays in place as long as the new size fits.
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
    /// The object that the superheap returned. The test for an ordinary one comes first. An address
    /// that is neither ordinary nor displaced is passed on for the superheap to check. A misaligned
    /// address is passed on without an access.
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
