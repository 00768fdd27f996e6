// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the C++ interfaces ask of any heap: memory of a size and an alignment, taken back with both.
//
// A heap that cannot align gets a larger request, and the block's address is kept in the word
// before the aligned object: who gives it back says the alignment again, so that nothing else needs
// to tell such objects from others. A heap that wants to know the size on the way back is told.
// Cost: none where the heap aligns as is wanted, else up to the alignment.
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

/// What a request for `size` bytes asks of a heap: something, even for nothing.
constexpr std::size_t atLeastOne(std::size_t size) noexcept {
    return size == 0 ? 1 : size;
}

} // namespace detail

/// Memory for an object, or null. `align` is a power of two.
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

/// Takes an object back. Pre: it is `takeObject`'s, for the same size and alignment; not null.
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
