// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The handle of a nested heap for C: one block of malloc's, with the part that C code reads first,
// then the heap. An empty heap thus takes no chunk, and its block is freed when it ends, not with
// its parent's memory.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace heapwright::capi {

/// `Head` is, or begins with, the part that C code reads. `Nested` is a `NestedHeap`.
template <class Head, class Nested>
struct NestedHandle {
    static constexpr std::size_t headBytes = roundUp(sizeof(Head), minAlignment);
    static_assert(alignof(Head) <= minAlignment && alignof(Nested) <= minAlignment);

    [[nodiscard]] static Nested& heapOf(Head* head) noexcept {
        return *static_cast<Nested*>(forward(head, headBytes));
    }
    [[nodiscard]] static Head* headOf(Nested* heap) noexcept {
        return heap == nullptr ? nullptr : static_cast<Head*>(backward(heap, headBytes));
    }

    /// Creates a heap inside `parent`'s, or without a parent if that is null; null if there is no
    /// memory.
    template <class... Parts>
    [[nodiscard]] static Head* make(Head* parent, Parts... parts) noexcept {
        const platform::ErrnoKeeper keeper;
        void* const block = std::malloc(headBytes + sizeof(Nested));
        if (block == nullptr) {
            return nullptr;
        }
        void* const place = forward(block, headBytes);
        if (parent == nullptr) {
            ::new (place) Nested;
        } else {
            static_cast<void>(heapOf(parent).makeChildAt(place, release));
        }
        return ::new (block) Head{parts...};
    }

    static void end(Head* head) noexcept {
        heapOf(head).~Nested();
        std::free(head);
    }

private:
    static void release(Nested* heap) noexcept { std::free(headOf(heap)); }
};

} // namespace heapwright::capi
