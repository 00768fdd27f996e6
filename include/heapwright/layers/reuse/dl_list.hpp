// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is freed waits on a doubly linked list, the first in first out, and any object can be taken
// out of the middle in constant time (`remove`): for a heap above that learns that a neighbour, a
// page or a class of objects is wanted whole.
//
// It belongs where every request is for one size; a request for more than the smallest object was
// asked for with goes below, so that none is ever too small. Requests are raised to two words, the
// links; its verbs are those of layers/reuse/adapt_heap.hpp, on a list that compares no sizes.
// Cost: a compare, four loads and stores. The layer is from Heap Layers.
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
