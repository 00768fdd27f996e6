// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Stores the size of each object in a tag before it.
//
// The header is 8 bytes if the superheap's blocks start 8 bytes past a multiple of 16. If they
// start on a multiple, it is 16 bytes, 8 of them unused. In both cases objects are 16-aligned. The
// capacity is the rest of the block.
// Cost: one store for a malloc; a load and a shift for the size.
//
// Example: SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <new>
#include <string_view>

namespace heapwright {

/// A heap whose addresses leave an object 16-aligned after a header of 8 or 16 bytes.
template <class H>
concept HeaderableHeap = Heap<H> && H::alignment % minAlignment == 0 &&
                         (alignmentOffsetOf<H> % minAlignment == 0 ||
                          (alignmentOffsetOf<H> + Tag::bytes) % minAlignment == 0);

template <HeaderableHeap SuperHeap>
class SizeHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;
    static constexpr std::size_t header =
        alignmentOffsetOf<SuperHeap> % minAlignment == 0 ? minAlignment : Tag::bytes;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    static constexpr bool concurrent = ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption = "writes each object's size before it";
    using Below = Heaps<SuperHeap>;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        const std::size_t block = blockFor(size);
        return block == 0 ? nullptr : place(SuperHeap::malloc(block), block);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        const std::size_t block = blockFor(size);
        return block == 0 ? nullptr : place(SuperHeap::zalloc(block), block);
    }

    /// Passes the size to a superheap that accepts it.
    void free(void* object) noexcept {
        void* const block = backward(object, header);
        if constexpr (SizedFreeHeap<SuperHeap>) {
            SuperHeap::free(block, getSize(object) + header);
        } else {
            SuperHeap::free(block);
        }
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).plainSize() - Tag::bytes;
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::clear;
    using Forwards::heldByThisThread;
    using Forwards::measure;
    using Forwards::owns;

private:
    /// The block for an object of `size` bytes, a multiple of 16; 0 on overflow.
    static constexpr std::size_t blockFor(std::size_t size) noexcept {
        const std::size_t block = roundUp(size + header, minAlignment);
        return block > size ? block : 0;
    }

    static void* place(void* block, std::size_t size) noexcept {
        if (block == nullptr) {
            return nullptr;
        }
        void* const object = forward(block, header);
        ::new (backward(object, Tag::bytes)) Tag(size - header + Tag::bytes, State::live);
        return object;
    }
};

} // namespace heapwright
