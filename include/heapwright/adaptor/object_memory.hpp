// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of a size and an alignment from any heap, as the C++ interfaces need it. The caller passes
// both again to free it.
//
// A heap that cannot align gets a larger request. The address of the block is stored in the word
// before the aligned object. The alignment at the free shows which objects are stored like this, so
// no other mark is needed. The size is passed on to a heap that accepts it.
// Cost: none if the heap has the alignment; otherwise up to `align` bytes.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>

#include <cstddef>
#include <cstring>

namespace heapwright {

/// A heap for objects of any kind: any size, 16-aligned, freed in any order.
template <class H>
concept GeneralHeap = MaxAlignedHeap<H> && AnySizeHeap<H> && AnyOrderHeap<H>;

namespace detail {

/// The size of a request to a heap, which is never 0.
constexpr std::size_t atLeastOne(std::size_t size) noexcept {
    return size == 0 ? 1 : size;
}

} // namespace detail

/// Memory for an object, or null.
/// Pre: `align` is a power of two.
template <GeneralHeap H>
[[nodiscard]] void* takeObject(H& heap, std::size_t size, std::size_t align) noexcept {
    if (align <= H::alignment) [[likely]] {
        return heap.malloc(detail::atLeastOne(size));
    }
    if constexpr (AlignedHeap<H>) {
        return heap.memalign(align, detail::atLeastOne(size));
    } else {
        std::size_t whole = 0;
        if (__builtin_add_overflow(size, align, &whole)) {
            return nullptr;
        }
        void* const block = heap.malloc(whole);
        if (block == nullptr) {
            return nullptr;
        }
        void* const object = pointerTo(roundUp(addressOf(block) + sizeof block, align));
        std::memcpy(backward(object, sizeof block), &block, sizeof block);
        return object;
    }
}

/// Frees an object.
/// Pre: it comes from `takeObject` with the same size and alignment, and is not null.
template <GeneralHeap H>
void giveObjectBack(H& heap, void* object, std::size_t size, std::size_t align) noexcept {
    void* block = object;
    std::size_t whole = detail::atLeastOne(size);
    if (align > H::alignment) [[unlikely]] {
        if constexpr (AlignedHeap<H>) {
            heap.free(object);
            return;
        } else {
            std::memcpy(&block, backward(object, sizeof block), sizeof block);
            whole = size + align;
        }
    }
    if constexpr (SizedFreeHeap<H>) {
        heap.free(block, whole);
    } else {
        heap.free(block);
    }
}

} // namespace heapwright
