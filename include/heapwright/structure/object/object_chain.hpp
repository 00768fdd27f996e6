// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Several objects in one hand: each begins with the address of the next, the last with null. So
// they go from heap to heap in one step, without memory of their own (`BatchingHeap`); and how they
// are had from a heap, and given back to it, that knows single objects only.
#pragma once

#include <heapwright/core/concepts.hpp>

#include <cstddef>
#include <new>

namespace heapwright {

struct ObjectLink {
    ObjectLink* next;
};

/// Up to `count` objects of `size` bytes, a word at least, in the order in which the heap gives
/// them; null if it has none.
template <Heap H>
[[nodiscard]] ObjectLink* mallocChain(H& heap, std::size_t size, std::size_t count) noexcept {
    ObjectLink* first = nullptr;
    ObjectLink** end = &first;
    for (; count > 0; --count) {
        void* const object = heap.malloc(size);
        if (object == nullptr) {
            break;
        }
        *end = ::new (object) ObjectLink{nullptr};
        end = &(*end)->next;
    }
    return first;
}

template <Heap H>
void freeChain(H& heap, ObjectLink* chain) noexcept {
    while (chain != nullptr) {
        ObjectLink* const next = chain->next;
        heap.free(chain);
        chain = next;
    }
}

} // namespace heapwright
