// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Freed objects wait on a doubly linked list, first in, first out. Any object can be removed from
// the middle in constant time (`remove`). A heap above needs that when it wants a neighbour, a page
// or a class of objects as a whole.
//
// Use it where every request has one size. A request larger than the smallest request so far goes
// below, so that no object is too small. Requests are raised to two words for the links. Its verbs
// are those of layers/reuse/adapt_heap.hpp, on a list that does not compare sizes.
// Cost: a compare, four loads and stores.
// Source: the layer is from Heap Layers.
//
// Example: DLList<ChunkHeap<64 * KiB, 0, MmapHeap>>
#pragma once

#include <heapwright/core/describe.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/layers/reuse/adapt_heap.hpp>
#include <heapwright/structure/list/fifo_list.hpp>

#include <string_view>

namespace heapwright {

template <AnyOrderHeap SuperHeap>
class DLList : public AdaptHeap<FifoList, SuperHeap> {
public:
    static constexpr std::string_view caption =
        "keeps what is freed on a list, first in first out, open in the middle";
    using Below = Heaps<SuperHeap>;

    constexpr DLList() noexcept = default;
    ~DLList() = default;
};

} // namespace heapwright
