// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Chains of objects: the first word of each is the address of the next, and null in the last.
// Chains move between heaps in one step, without memory of their own (`BatchingHeap`). This file
// also allocates a chain from a heap without batches, and frees it there.
#pragma once

#include <heapwright/core/concepts.hpp>

#include <cstddef>
#include <new>

namespace heapwright {

struct ObjectLink {
    ObjectLink* next;
};

/// Up to `count` objects of `size` bytes, in the order in which the heap returns them; null if it
/// has none.
/// Pre: `size` is at least a word.
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
